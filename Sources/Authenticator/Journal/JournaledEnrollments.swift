import IssuerProtocol
import StrictJSON

/// What the journal says about the enrollments, held against their rows.
struct JournaledEnrollments: Sendable {
    private var enrolled: [EnrollmentID: JournalEntry] = [:]
    private var unenrolled: [EnrollmentID: JournalEntry] = [:]

    mutating func follow(_ entry: JournalEntry) {
        guard let id = entry.text("enrollment").flatMap(EnrollmentID.init) else { return }
        switch entry.kind {
        case .enrolled: enrolled[id] = entry
        case .unenrolled: unenrolled[id] = entry
        default: break
        }
    }

    /// The first row that is not as the agent wrote it, or says something else than the journal.
    ///
    /// - Parameter head: what is named if no kept entry speaks of the enrollment.
    func firstFault(of enrollments: [Enrollment], head: JournalPoint) throws -> JournalError? {
        for enrollment in enrollments where !enrollment.isOver {
            let entry = enrolled[enrollment.id]
            if enrollment.isDamaged {
                return JournalError(
                    sequence: entry?.sequence ?? head.sequence,
                    problem: "does not vouch for enrollment \(enrollment.id): its row is not as the agent wrote it")
            }
            if let end = unenrolled[enrollment.id] {
                return JournalError(
                    sequence: end.sequence, problem: "ended enrollment \(enrollment.id), whose row is an older one")
            }
            guard let entry, let member = try entry.firstContradiction(of: enrollment) else { continue }
            return JournalError(
                sequence: entry.sequence,
                problem: "names another \(member) than the row of enrollment \(enrollment.id)")
        }
        return nil
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

/// What the journal says about wrong PINs: of enrollments whose key the agent made, and of other keys.
///
/// A row that says less was put back from an older copy, and one that is missing was taken away.
struct JournaledPINTries: Sendable {
    private var failures: [EnrollmentID: Int64] = [:]
    private var ofKeys: [KeyIdentity: Int64] = [:]

    mutating func follow(_ entry: JournalEntry) {
        // Before that a right PIN was not always an entry.
        if entry.kind == .rowsSealed { (failures, ofKeys) = ([:], [:]) }
        if let key = entry.text("key").flatMap(Base64URL.decode).flatMap(KeyIdentity.init(bytes:)) {
            switch entry.kind {
            case .notVerified, .pinTriesPutBack: ofKeys[key] = entry.number("failures")
            case .verified: ofKeys[key] = nil
            default: break
            }
            return
        }
        guard let id = entry.text("enrollment").flatMap(EnrollmentID.init) else { return }
        switch entry.kind {
        case .notVerified: failures[id] = entry.number("failures")
        case .verified, .pinChanged: failures[id] = nil
        case .decided where entry.text("verified") != nil: failures[id] = nil
        default: break
        }
    }

    /// The enrollments that have had wrong ones since their last right one.
    var enrollments: [EnrollmentID] { Array(failures.keys) }

    /// How many more tries an enrollment has had than its row says; nil if the row says as many, or more.
    func missing(in enrollment: Enrollment) -> Int? {
        guard !enrollment.isOver, enrollment.key == .own, let known = failures[enrollment.id],
            known > Int64(enrollment.pinTries.failures),
            let count = Int(exactly: known)
        else { return nil }
        return count
    }

    /// The keys that have had more tries than their rows say, with how many those were.
    func missing(in rows: [KeyIdentity: PINTries]) -> [KeyIdentity: Int] {
        ofKeys.compactMapValues { Int(exactly: $0) }.filter { $0.value > (rows[$0.key] ?? .fresh).failures }
    }
}
