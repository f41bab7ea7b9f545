import Synchronization
import ThreeDS

/// A clock over the sandbox's dependencies that a test can move ahead.
///
/// It sleeps with the dependencies' `sleep`, so it needs no timer of its own. A sleep ends as soon as this clock has
/// reached its end.
final class MovableClock: Sendable {
    private struct State {
        var offset: Int64
        var nextID: UInt64 = 0
        var sleepers: [UInt64: AsyncStream<Void>.Continuation] = [:]
    }

    private let base: SandboxDependencies
    private let state: Mutex<State>

    /// - Parameter offset: seconds that the clock was moved ahead before.
    init(over base: SandboxDependencies, offset: Int64) {
        self.base = base
        state = Mutex(State(offset: offset))
    }

    /// Seconds that the clock is ahead.
    var offset: Int64 { state.withLock(\.offset) }

    var dependencies: SandboxDependencies {
        SandboxDependencies(
            now: { [self] in base.now() + offset }, milliseconds: { [self] in base.milliseconds() + offset * 1_000 },
            sleep: { [self] in try await sleep($0) }, random: base.random)
    }

    /// Moves the clock to an offset; a smaller offset than the current one has no effect.
    func move(to offset: Int64) {
        let sleepers = state.withLock { state in
            state.offset = max(state.offset, offset)
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.yield() }
    }

    private func sleep(_ length: Duration) async throws {
        let (start, startOffset) = (ContinuousClock.now, offset)
        var isOver = false
        while !isOver {
            // Registered before it reads the clock, so that no move is missed in between.
            let (moves, sleeper) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let id = enter(sleeper)
            defer { leave(id) }
            let passed = start.duration(to: .now) + .seconds(offset - startOffset)
            guard passed < length else { return }
            isOver = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { [base] in
                    try await base.sleep(length - passed)
                    return true
                }
                group.addTask {
                    for await _ in moves { return false }
                    throw CancellationError()
                }
                defer { group.cancelAll() }
                return try await group.next() ?? true
            }
        }
    }

    private func enter(_ sleeper: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLock { state in
            state.nextID += 1
            state.sleepers[state.nextID] = sleeper
            return state.nextID
        }
    }

    private func leave(_ id: UInt64) { state.withLock { $0.sleepers[id] = nil } }
}
