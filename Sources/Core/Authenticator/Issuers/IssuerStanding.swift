import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables

/// Records whether an issuer still knows an enrollment's token.
///
/// All callers of issuers share this transition.
struct IssuerStanding: Sendable {
    let ports: Ports
    let health: IssuerHealth
    let log: Logger

    /// Writes the change that an issuer's answer implies.
    ///
    /// Call ``report(isKnown:_:)`` once that is committed.
    ///
    /// - Returns: whether something has changed. While the enrollment's end is being reported to the issuer, "unknown"
    ///   is not a change.
    func record(isKnown: Bool, _ id: EnrollmentID, at now: Int64, in store: StoreTransaction) throws -> Bool {
        guard isKnown || !health.isLeaving(id), try store.change(id, isKnown ? .resumed : .suspended) != nil else {
            return false
        }
        try store.record(isKnown ? .resumed(id) : .suspended(id), at: now)
        return true
    }

    /// Logs a change that ``record(isKnown:_:at:in:)`` has written.
    func report(isKnown: Bool, _ enrollment: Enrollment) {
        if isKnown {
            log.notice("the issuer knows the enrollment again", metadata: enrollment.logged())
        } else {
            log.error("the issuer no longer knows the enrollment; it is suspended", metadata: enrollment.logged())
        }
    }
}
