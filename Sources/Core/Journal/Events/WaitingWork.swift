package import Records

/// Work that waits in the store or in memory, found by the ``PeriodicLook``.
package enum WaitingWork: Sendable {
    /// Enrollments of this host's share with items in one of the queues of their outbox.
    case outbox([EnrollmentID], OutboxQueue)
    /// Registrations of this host's share that the issuer has not answered.
    case registrations([EnrollmentID])
    /// The standing of some enrollments, whether or not it has changed.
    case standings([EnrollmentStanding])
    /// Enrollments of this host's share whose push subscription the issuer may not have.
    case subscriptions([EnrollmentID])
    /// Pending requests that have expired.
    case expiredRequests
    /// Ended enrollments of this host's share whose personal data must still be erased.
    case erasures([EnrollmentID])
    /// Issuers with deferred messages.
    case heldMessages([IssuerTarget])
    /// Keys that cannot be used.
    case failingKeys
    /// A newest entry of this host's chain that differs from the one at the last look.
    case journal(through: Int64)
}
