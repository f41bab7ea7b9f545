import IssuerProtocol
import StrictJSON

/// What the journal says about the enrollments, held against their rows.
struct JournaledEnrollments: Sendable {
    private typealias Told = (entry: JournalEntry, host: String)

    private var enrolled: [EnrollmentID: Told] = [:]
    private var unenrolled: [EnrollmentID: Told] = [:]

    /// - Parameter host: whose chain it is in; empty for the only one.
    mutating func follow(_ entry: JournalEntry, of host: String) {
        for (id, row) in MovedRows(entry)?.enrollments ?? [:] where row == .ended { unenrolled[id] = (entry, host) }
        guard let id = entry.text("enrollment").flatMap(EnrollmentID.init) else { return }
        switch entry.kind {
        case .enrolled: enrolled[id] = (entry, host)
        case .unenrolled: unenrolled[id] = (entry, host)
        default: break
        }
    }

    /// The first row that is not as the agent wrote it, or says something else than the journal.
    ///
    /// - Parameter head: what is named if no kept entry speaks of the enrollment.
    func firstFault(of enrollments: [Enrollment], head: JournalPoint) throws -> JournalError? {
        for enrollment in enrollments where !enrollment.isOver {
            let told = enrolled[enrollment.id]
            if enrollment.isDamaged {
                return JournalError(
                    host: Self.named(told), sequence: told?.entry.sequence ?? head.sequence,
                    problem: "does not vouch for enrollment \(enrollment.id): its row is not as the agent wrote it")
            }
            if let end = unenrolled[enrollment.id] {
                return JournalError(
                    host: Self.named(end), sequence: end.entry.sequence,
                    problem: "ended enrollment \(enrollment.id), whose row is an older one")
            }
            guard let told, let member = try told.entry.firstContradiction(of: enrollment) else { continue }
            return JournalError(
                host: Self.named(told), sequence: told.entry.sequence,
                problem: "names another \(member) than the row of enrollment \(enrollment.id)")
        }
        return nil
    }

    private static func named(_ told: Told?) -> String? { told.flatMap { $0.host.isEmpty ? nil : $0.host } }
}

extension JournalEntry {
    /// The first member of an `enrolled` entry that the row contradicts; members that it lacks do not count.
    fileprivate func firstContradiction(of enrollment: Enrollment) throws -> String? {
        let facts = try JournalFact.enrolledMembers(of: enrollment)
        let authenticator = enrollment.membership.map { JSONValue.string($0.authenticatorId.text) }
        return (facts.members + [.init(name: "authenticator", value: authenticator ?? .null)]).first { member in
            guard let written = json[member.name], member.value != .null else { return false }
            return written != member.value
        }?.name
    }
}
