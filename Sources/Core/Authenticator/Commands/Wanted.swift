package import Records
import Synchronization

/// For how long a decision is wanted: until its deadline, and while whoever asked for it is there.
///
/// All that works on one decision shares one of these. Once it is over, nothing is decided any more.
package final class Wanted: Sendable {
    /// The seconds that a decision may take if nobody says otherwise.
    package static let standardSeconds: Double = 30

    private struct State {
        var isWithdrawn = false
        /// What is cut off by a withdrawal, by its number.
        var cuts: [Int: @Sendable () -> Void] = [:]
        var last = 0
    }

    private let clock: any AgentClock
    /// On the steady clock, so that a wall clock that is set back prolongs nothing.
    private let end: Double
    /// Seconds since 1970: nothing is decided from then on, though the steady clock may allow it.
    private let before: Int64?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - seconds: how long it may take from now on.
    ///   - before: the moment, in seconds since 1970, from which on nothing is to be decided; nil for none.
    package init(for seconds: Double = standardSeconds, before: Int64? = nil, on clock: any AgentClock) {
        self.clock = clock
        self.before = before
        let left = before.map { Double($0) - Double(clock.now) } ?? seconds
        end = clock.steady + max(min(seconds, left), 0)
    }

    /// Whoever asked for it is gone.
    package func withdraw() {
        let cuts = state.withLock { state in
            state.isWithdrawn = true
            defer { state.cuts = [:] }
            return state.cuts.values.map(\.self)
        }
        for cut in cuts { cut() }
    }

    /// Why it is no longer wanted; nil while it is.
    var overBecause: String? {
        if state.withLock(\.isWithdrawn) { return "whoever asked for it is gone" }
        return isPast ? "it was not ready by its deadline" : nil
    }

    /// Whether its deadline has passed, whoever waits for it.
    var isPast: Bool { clock.steady >= end || before.map { clock.now >= $0 } ?? false }

    /// Throws `CommandError` `.notInTime` if it is no longer wanted.
    func check(_ request: RequestRecord? = nil) throws {
        if let reason = overBecause { throw CommandError(notDecided: reason, request) }
    }

    /// Does a part of the work that may be cut off, by cancelling it; what comes of it then still counts.
    ///
    /// It returns when the work has ended: that must be soon after it is cancelled.
    func run<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async throws -> T {
        try check()
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
    /// The decision is no longer wanted, so it was not made.
    fileprivate init(notDecided reason: String, _ request: RequestRecord?) {
        self.init(.notInTime, "nothing was decided: \(reason); ask again", request: request)
    }
}
