import IssuerProtocol
import Records
import StrictJSON

/// Beginnings and ends of enrollments as the journal tells them, held against their rows as it is read.
///
/// Nothing is kept of the entries: what they say of a row stays so. An enrollment is what it was made as, and what is over
/// stays over or goes. So it does not matter how much later than an entry its row is read.
struct JournaledEnrollments: Sendable {
    /// The first row that was found to be another one.
    private(set) var fault: JournalError?

    /// The enrollments that an entry says are made or ended.
    static func named(in row: JournalRow) -> [EnrollmentID] {
        switch row.kind {
        case .enrolled, .unenrolled: JournalEntry(row, isFollowed: true)?.enrollment.map { [$0] } ?? []
        case .moved: JournalEntry(row, isFollowed: true).flatMap(MovedRows.init)?.ended ?? []
        default: []
        }
    }

    /// - Parameters:
    ///   - host: whose chain it is in; empty for the only one.
    ///   - moved: what it says, if it tells of a move.
    ///   - live: the enrollments that it names and that are not over.
    mutating func follow(
        _ entry: JournalEntry, of host: String, moved: MovedRows?, live: [EnrollmentID: Enrollment]
    ) throws {
        guard fault == nil, !live.isEmpty else { return }
        let problem: String?
        switch entry.kind {
        case .enrolled:
            problem = try entry.enrollment.flatMap { live[$0] }.flatMap { try Self.problem(of: $0, in: entry) }
        case .unenrolled: problem = entry.enrollment.flatMap { live[$0] }.map(Self.revived)
        case .moved: problem = moved?.ended.lazy.compactMap { live[$0] }.first.map(Self.revived)
        default: problem = nil
        }
        fault = problem.map {
            JournalError(host: host.isEmpty ? nil : host, sequence: entry.sequence, problem: $0)
        }
    }

    private static func problem(of enrollment: Enrollment, in entry: JournalEntry) throws -> String? {
        guard !enrollment.isDamaged else { return damaged(enrollment) }
        return try entry.firstContradiction(of: enrollment).map {
            "names another \($0) than the row of enrollment \(enrollment.id)"
        }
    }

    private static func revived(_ enrollment: Enrollment) -> String {
        guard !enrollment.isDamaged else { return damaged(enrollment) }
        return "ended enrollment \(enrollment.id), whose row is an older one"
    }

    static func damaged(_ enrollment: Enrollment) -> String {
        "does not vouch for enrollment \(enrollment.id): its row is not as the agent wrote it"
    }
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
