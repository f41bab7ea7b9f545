import IssuerProtocol
import Records
import StrictJSON

/// Compares the starts and ends of enrollments in the journal with their rows, entry by entry.
///
/// No entries are kept, because their statements about a row stay true. The members from the start of an enrollment do
/// not change, and an ended enrollment stays ended or is removed. So its row may be read at any time after the entry.
struct JournaledEnrollments: Sendable {
    /// The fault of the first row that contradicts the journal.
    private(set) var fault: JournalError?

    /// Returns the enrollments that an entry reports as made or ended.
    static func named(in row: JournalRow) -> [EnrollmentID] {
        switch row.kind {
        case .enrolled, .unenrolled: JournalEntry(row, isFollowed: true)?.enrollment.map { [$0] } ?? []
        case .moved: JournalEntry(row, isFollowed: true).flatMap(MovedRows.init)?.ended ?? []
        default: []
        }
    }

    /// - Parameters:
    ///   - host: the host of the entry's chain, or empty for the only chain.
    ///   - moved: the content of the entry, if it reports a move.
    ///   - live: the enrollments that the entry names, and that have not ended.
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
    /// Returns the first member of an `enrolled` entry that the row contradicts; missing members are ignored.
    fileprivate func firstContradiction(of enrollment: Enrollment) throws -> String? {
        let facts = try JournalFact.enrolledMembers(of: enrollment)
        let authenticator = enrollment.membership.map { JSONValue.string($0.authenticatorId.text) }
        return (facts.members + [.init(name: "authenticator", value: authenticator ?? .null)]).first { member in
            guard let written = json[member.name], member.value != .null else { return false }
            return written != member.value
        }?.name
    }
}
