import Control
import Synchronization

/// Whether the agent has `test` enrollments and no others, so that sessions may live longer.
///
/// It is asked for only if that matters, and remembered for a while. While the agent does not answer, the last answer
/// holds: then the page has nothing to show.
final class EnrollmentKinds: Sendable {
    /// For so long an answer is remembered, and so an enrollment of a payer's may be overlooked.
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

    /// The limits that hold now.
    var limits: SessionLimits {
        get async {
            let now = now()
            let known = state.withLock { state in
                state.asked.map { now - $0 < Self.memory } ?? false ? state.areTests : nil
            }
            if let known { return Self.limits(known) }
            let answer = try? await ask()
            // Others may have asked meanwhile; the agent said the same to them.
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
