/// The wrong PINs in a row, and the end of the present block.
///
/// After five in a row, the enrollment is blocked for some time (PSD2 RTS Article 4(3)(b) and 4(4)). After a minute
/// there is one more try. Each wrong try doubles the wait, up to a day.
package struct PINTries: Sendable, Equatable {
    /// The number of wrong PINs in a row that causes a wait.
    package static let limit = 5
    /// Maximum number of keys without an enrollment whose wrong PINs are counted; a count is never removed.
    package static let keysWithoutEnrollment: Int64 = 10_000
    private static let firstWait: Int64 = 60
    private static let longestWait: Int64 = 86_400

    /// The number of tries that began since the PIN was last right.
    package let failures: Int
    /// The time of the next allowed try, in seconds since 1970, or `nil` if a try is always allowed.
    package let blockedUntil: Int64?
    /// The host that began the last try, if its outcome is unknown; empty if the store has one chain.
    ///
    /// Only for keys that the agent did not make. `nil` for all others.
    package let underWay: String?

    /// The count without a wrong PIN.
    package static let fresh = PINTries(failures: 0, blockedUntil: nil)

    /// The count for a row that the agent did not write: so high that the next wait is the longest.
    package static let unknown = PINTries(failures: limit + 11, blockedUntil: nil)

    package init(failures: Int, blockedUntil: Int64?, underWay: String? = nil) {
        self.failures = failures
        self.blockedUntil = blockedUntil
        self.underWay = underWay
    }

    /// The same count without a try under way: the last PIN was wrong, or its outcome will never be known.
    package var settled: PINTries { PINTries(failures: failures, blockedUntil: blockedUntil) }

    /// The number of tries before the next wait.
    package var left: Int { max(Self.limit - failures, 1) }

    /// Whether tries are refused at this time.
    package func isBlocked(at now: Int64) -> Bool { blockedUntil.map { now < $0 } ?? false }

    /// Returns the count that is stored before a try, as if the PIN were wrong.
    ///
    /// So an attacker who stops the agent between the check and its outcome gains no try.
    package func begun(at now: Int64, by host: String? = nil) -> PINTries {
        let failures = failures + 1
        guard failures >= Self.limit else { return PINTries(failures: failures, blockedUntil: nil, underWay: host) }
        // More doublings would be far above the longest wait.
        let doublings = min(failures - Self.limit, 20)
        let wait = min(Self.firstWait << doublings, Self.longestWait)
        return PINTries(failures: failures, blockedUntil: now + wait, underWay: host)
    }
}
