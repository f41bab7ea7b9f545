import Records
import Synchronization

/// A clock that stands still until a schedule moves it.
final class ScheduleClock: AgentClock {
    static let start: Int64 = 1_700_000_000

    private struct State {
        var now = ScheduleClock.start
        var naps = 0
        var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())
    private let notifier: ChangeNotifier

    init(notifier: ChangeNotifier) { self.notifier = notifier }

    var now: Int64 { state.withLock { $0.now } }

    /// How often someone has lain down.
    var naps: Int { state.withLock { $0.naps } }

    func pass(_ seconds: Int64) { state.withLock { $0.now += seconds } }

    /// Nobody is woken: within a schedule's step no time passes.
    func sleep(seconds: Double) async throws {
        let id = state.withLock { state in
            state.naps += 1
            return state.naps
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in lieDown(id, continuation) }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.resume(throwing: CancellationError())
        }
    }

    private func lieDown(_ id: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let isCancelled = state.withLock { state in
            guard !Task.isCancelled else { return true }
            state.sleepers[id] = continuation
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        notifier.ring()
    }
}
