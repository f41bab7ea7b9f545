import Control
import Synchronization

/// A cache of whether the agent has only `test` enrollments, so that sessions may live longer.
///
/// The agent is asked only if the answer matters. While it does not answer, its last answer remains valid: the page has
/// nothing to show then.
final class EnrollmentKinds: Sendable {
    /// The lifetime of an answer; for that time a new enrollment of a payer may be overlooked.
    static let memory: Duration = .seconds(30)

    private struct State: Sendable {
        var areTests = false
        var asked: ContinuousClock.Instant?
    }

    private let ask: @Sendable () async throws(ClientError) -> Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        ask: @escaping @Sendable () async throws(ClientError) -> Bool
    ) {
        self.now = now
        self.ask = ask
    }

    /// The session limits in effect now.
    var limits: SessionLimits {
        get async {
            let now = now()
            let known = state.withLock { state in
                state.asked.map { now - $0 < Self.memory } ?? false ? state.areTests : nil
            }
            if let known { return Self.limits(known) }
            let answer = try? await ask()
            // Another task may have asked meanwhile; it got the same answer.
            return Self.limits(
                state.withLock { state in
                    if let answer { state.areTests = answer }
                    state.asked = now
                    return state.areTests
                })
        }
    }

    private static func limits(_ areTests: Bool) -> SessionLimits { areTests ? .tests : .payers }
}
