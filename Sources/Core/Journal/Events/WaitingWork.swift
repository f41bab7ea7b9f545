package import Records

/// Work that waits in the store or in memory, as the ``PeriodicLook`` finds it.
package enum WaitingWork: Sendable {
    /// Enrollments of this host's share with something in one of the queues of their outbox.
    case outbox([EnrollmentID], OutboxQueue)
    /// Registrations of this host's share without an answer.
    case registrations([EnrollmentID])
    /// The standing of some enrollments, whether or not that is news.
    case standings([EnrollmentStanding])
    /// Enrollments of this host's share whose push subscription the issuer may not have.
    case subscriptions([EnrollmentID])
    /// Requests are pending that have expired.
    case expiredRequests
    /// Ended enrollments of this host's share whose personal data is still to be erased.
    case erasures([EnrollmentID])
    /// Issuers of whom messages are held.
    case heldMessages([IssuerTarget])
    /// Keys cannot be used.
    case failingKeys
    /// The newest entry of this host's chain is another one than at the last look.
    case journal(through: Int64)
}
