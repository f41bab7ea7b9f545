import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables

/// Records whether an issuer still knows an enrollment's token.
///
/// Whoever called the issuer last has found out: one transition for all of them.
struct IssuerStanding: Sendable {
    let ports: Ports
    let health: IssuerHealth
    let log: Logger

    /// Notes in a database transaction what the issuer's answer says; to be told once that is committed.
    ///
    /// - Returns: whether it is news. While the issuer is being told of the enrollment's end, "unknown" is no news.
    func note(isKnown: Bool, _ id: EnrollmentID, at now: Int64, in store: StoreTransaction) throws -> Bool {
        guard isKnown || !health.isLeaving(id), try store.change(id, isKnown ? .resumed : .suspended) != nil else {
            return false
        }
        try store.record(isKnown ? .resumed(id) : .suspended(id), at: now)
        return true
    }

    /// Says in the log what ``note(isKnown:_:at:in:)`` found to be news.
    func tell(isKnown: Bool, _ enrollment: Enrollment) {
        if isKnown {
            log.notice("the issuer knows the enrollment again", metadata: enrollment.logged())
        } else {
            log.error("the issuer no longer knows the enrollment; it is suspended", metadata: enrollment.logged())
        }
    }
}
