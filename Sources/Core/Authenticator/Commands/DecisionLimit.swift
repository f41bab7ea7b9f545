package import Records
import Synchronization

/// The caller's deadline and connection: the time in which a decision may be made.
///
/// All parts that work on one decision share one instance. After the deadline, or if the caller has disconnected, the
/// request is not decided.
package final class DecisionLimit: Sendable {
    /// The time limit of a decision in seconds, if the caller sets none.
    package static let standardSeconds: Double = 30

    private struct State {
        var isWithdrawn = false
        /// Functions that cancel parts of the work if the caller disconnects, by their number.
        var cuts: [Int: @Sendable () -> Void] = [:]
        var last = 0
    }

    private let clock: any AgentClock
    /// The deadline on the steady clock, so that a wall clock that is set back does not extend it.
    private let end: Double
    /// The deadline in seconds since 1970, which counts even if the steady clock allows more time.
    private let before: Int64?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - seconds: the limit from now on, in seconds.
    ///   - before: the time from which on the request must not be decided, in seconds since 1970. `nil` for none.
    package init(for seconds: Double = standardSeconds, before: Int64? = nil, on clock: any AgentClock) {
        self.clock = clock
        self.before = before
        let left = before.map { Double($0) - Double(clock.now) } ?? seconds
        end = clock.steady + max(min(seconds, left), 0)
    }

    /// Withdraws the decision, because the caller has disconnected.
    package func withdraw() {
        let cuts = state.withLock { state in
            state.isWithdrawn = true
            defer { state.cuts = [:] }
            return state.cuts.values.map(\.self)
        }
        for cut in cuts { cut() }
    }

    /// The reason why the request must not be decided any more, or `nil` while it may be.
    var overBecause: String? {
        if state.withLock(\.isWithdrawn) { return "whoever asked for it is gone" }
        return isPast ? "it was not ready by its deadline" : nil
    }

    /// Whether its deadline has passed, even if the caller still waits.
    var isPast: Bool { clock.steady >= end || before.map { clock.now >= $0 } ?? false }

    /// Throws `CommandError` `.notInTime` if the request must not be decided any more.
    func expectOpen(_ request: RequestRecord? = nil) throws {
        if let reason = overBecause { throw CommandError(notDecided: reason, request) }
    }

    /// Runs a part of the work, and cancels it at the deadline or if the caller disconnects.
    ///
    /// A result of the cancelled work still counts. This returns when the work has ended, so the work must end soon
    /// after it is cancelled.
    func perform<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async throws -> T {
        try expectOpen()
        let (clock, left) = (clock, max(end - clock.steady, 0))
        return try await cuttable(work) { cut in
            let number = enter(cut)
            let deadline = clock.alarm(after: left, cut)
            return {
                deadline.cancel()
                self.state.withLock { _ = $0.cuts.removeValue(forKey: number) }
            }
        }
    }

    private func enter(_ cut: @escaping @Sendable () -> Void) -> Int {
        let number: Int? = state.withLock { state in
            guard !state.isWithdrawn else { return nil }
            state.last += 1
            state.cuts[state.last] = cut
            return state.last
        }
        guard let number else {
            cut()
            return 0
        }
        return number
    }
}

extension CommandError {
    /// Makes the error of a decision that was not made in time.
    fileprivate init(notDecided reason: String, _ request: RequestRecord?) {
        self.init(.notInTime, "nothing was decided: \(reason); ask again", request: request)
    }
}
