import Records
import Synchronization

/// A clock that stands still until a test moves it; whoever sleeps on it is woken by that alone.
final class ManualClock: AgentClock {
    private struct Sleeper {
        let until: Double
        let seconds: Double
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// As it would be if nobody set it.
        var now: Double
        var ahead: Double = 0
        var suspended: Double = 0
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Int: (least: Int, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: Mutex<State>
    /// How long each one lies down for, in seconds, as they do.
    let naps = Channel<Double>()

    init(now: Int64) { state = Mutex(State(now: Double(now))) }

    var now: Int64 { state.withLock { Int64($0.now + $0.ahead) } }

    var steady: Double { state.withLock(\.now) }

    var running: Double { state.withLock { $0.now - $0.suspended } }

    /// Sets the wall clock alone so many seconds ahead of what it would be; negative: behind.
    func set(ahead seconds: Double) { state.withLock { $0.ahead = seconds } }

    /// Lets the machine sleep for so long, as far as the kernel can tell.
    func suspend(for seconds: Double) {
        state.withLock { $0.suspended += seconds }
        advance(by: seconds)
    }

    /// How many sleep now.
    var sleeperCount: Int { state.withLock(\.sleepers.count) }

    func sleep(seconds: Double) async throws {
        let id = newID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lieDown(id, for: seconds, continuation)
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private func lieDown(_ id: Int, for seconds: Double, _ continuation: CheckedContinuation<Void, any Error>) {
        let watchers = state.withLock { state -> [CheckedContinuation<Void, any Error>]? in
            guard !Task.isCancelled else { return nil }
            state.sleepers[id] = Sleeper(until: state.now + seconds, seconds: seconds, continuation: continuation)
            let satisfied = state.watchers.filter { $0.value.least <= state.sleepers.count }
            satisfied.keys.forEach { state.watchers[$0] = nil }
            return satisfied.map(\.value.continuation)
        }
        guard let watchers else { return continuation.resume(throwing: CancellationError()) }
        naps.send(seconds)
        watchers.forEach { $0.resume() }
    }

    /// Moves the clock, and wakes all whose time has come.
    func advance(by seconds: Double) {
        let woken = state.withLock { state in
            state.now += seconds
            let due = state.sleepers.filter { $0.value.until <= state.now }
            due.keys.forEach { state.sleepers[$0] = nil }
            return due.sorted { $0.value.until < $1.value.until }
        }
        woken.forEach { $0.value.continuation.resume() }
    }

    /// Waits until at least `least` sleep; throws if the task is cancelled first.
    func sleepers(_ least: Int = 1) async throws {
        let id = newID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in watch(id, for: least, continuation) }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private func watch(_ id: Int, for least: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let now = state.withLock { state -> Result<Void, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.sleepers.count < least else { return .success(()) }
            state.watchers[id] = (least, continuation)
            return nil
        }
        if let now { continuation.resume(with: now) }
    }

    private func newID() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    /// Waits until someone sleeps, moves the clock to where the first one wakes, and says how long that one slept.
    @discardableResult
    func wakeNext() async throws -> Double {
        try await sleepers()
        let first = state.withLock { state in
            state.sleepers.values.min { $0.until < $1.until }.map { ($0.seconds, $0.until - state.now) }
        }
        guard let (seconds, remaining) = first else { return try await wakeNext() }
        advance(by: max(remaining, 0))
        return seconds
    }
}
