/// What happened, for whoever waits.
package enum AgentEvent: Sendable {
    case requestPresented(RequestID)
    case requestSuperseded(RequestID)
    case requestDecided(RequestID)
    case requestDelivered(RequestID)
    case requestDeliveryFailed(RequestID)
    case requestExpired(RequestID)
    case requestCancelled(RequestID)
    case requestRefused(RequestID)
    case requestDuplicate(RequestID)
    case requestConflict(EnrollmentID)
    case enrolled(EnrollmentID)
    /// The enrollment was given up; the store says why.
    case enrollmentFailed(EnrollmentID)
    case unenrolled(EnrollmentID)
    case suspended(EnrollmentID)
    case resumed(EnrollmentID)
    /// The issuer's signCount was greater than the agent's own.
    case signCountRaised(EnrollmentID)
    /// Personal data of an enrollment that is over is to be erased.
    case erasureWanted(EnrollmentID)
    /// It is nowhere in the store's files any more.
    case erased(EnrollmentID)
    /// Something waits in this enrollment's outbox.
    case outboxFilled(EnrollmentID)
    /// An answer that was no request's own, such as to a duplicate, has left the outbox.
    case outboxEntrySettled(EnrollmentID)
    /// A new enrollment waits to be sent.
    case ceremonyStarted(EnrollmentID)
    /// Something was recorded in the journal.
    case journalGrew
    /// The next instant at which something is to be looked at may have come nearer.
    case deadlineMoved
    /// A message of this issuer is held that was not.
    case messageHeld(IssuerTarget)
    /// Somebody waits for a request that may be at its issuer.
    case requestsWanted
    /// A push said that there is something to fetch.
    case fetchWanted(EnrollmentID)
    /// A person wants another push subscription.
    case pushRotated(EnrollmentID)
    /// The issuer has the push subscription that it is to have.
    case pushSettled(EnrollmentID)
    /// A key that could be used cannot any more.
    case keyFailed(EnrollmentID)
    /// A trouble of the store has come, changed or gone.
    case storeHealthChanged
}
