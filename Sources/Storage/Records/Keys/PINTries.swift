/// How many wrong PINs were tried in a row, and until when no more tries are taken.
///
/// At most five in a row, then the enrollment is blocked for some time (PSD2 RTS Article 4(3)(b) and 4(4)): after a
/// minute there is one more try, and each wrong one doubles the wait, up to a day.
package struct PINTries: Sendable, Equatable {
    /// The wrong PINs in a row before there is a wait.
    package static let limit = 5
    /// The most keys without an enrollment whose wrong PINs are counted; a count never goes.
    package static let keysWithoutEnrollment: Int64 = 10_000
    private static let firstWait: Int64 = 60
    private static let longestWait: Int64 = 86_400

    /// Tries that were begun since the PIN was last found right.
    package let failures: Int
    /// When the next try is taken, seconds since 1970; nil if one is taken at any time.
    package let blockedUntil: Int64?
    /// The host at which the last try was begun, if its outcome is not known; empty if the store has one chain.
    ///
    /// Of keys that the agent did not make; `nil` for all others.
    package let underWay: String?

    /// No wrong PIN.
    package static let fresh = PINTries(failures: 0, blockedUntil: nil)

    /// What is there is not what the agent wrote: so many that the next wait is the longest.
    package static let unknown = PINTries(failures: limit + 11, blockedUntil: nil)

    package init(failures: Int, blockedUntil: Int64?, underWay: String? = nil) {
        self.failures = failures
        self.blockedUntil = blockedUntil
        self.underWay = underWay
    }

    /// The same count, of which it is known that the last PIN was wrong, or will never be known that it was right.
    package var settled: PINTries { PINTries(failures: failures, blockedUntil: blockedUntil) }

    /// How many more tries are taken before there is a wait, or another one.
    package var left: Int { max(Self.limit - failures, 1) }

    /// Whether a try is taken now.
    package func isBlocked(at now: Int64) -> Bool { blockedUntil.map { now < $0 } ?? false }

    /// What to write down before a try: as if the PIN were wrong.
    ///
    /// So that whoever stops the agent between the check and its outcome gains no try.
    package func begun(at now: Int64, by host: String? = nil) -> PINTries {
        let failures = failures + 1
        guard failures >= Self.limit else { return PINTries(failures: failures, blockedUntil: nil, underWay: host) }
        // More doublings than that are far above the longest wait.
        let doublings = min(failures - Self.limit, 20)
        let wait = min(Self.firstWait << doublings, Self.longestWait)
        return PINTries(failures: failures, blockedUntil: now + wait, underWay: host)
    }
}
