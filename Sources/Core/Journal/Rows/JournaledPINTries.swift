import IssuerProtocol
import Records
import TextAndTime

/// Wrong and changed PINs as the journal tells them: of enrollments whose key the agent made, and of other keys.
///
/// A row that says less was put back from an older copy, and one that is missing was taken away.
struct JournaledPINTries: Sendable {
    private var ofEnrollments = ChainTries<EnrollmentID>()
    private var ofKeys = ChainTries<KeyIdentity>()
    /// The versions of the rows that last got another PIN; a move of the state keeps them or counts on.
    private var changes = CompactNumbers<EnrollmentID>()
    /// Behind which number each chain was followed.
    private(set) var starts: [String: Int64] = [:]

    /// A chain was followed from there on.
    mutating func begin(_ host: String, behind start: Int64) { starts[host] = start }

    mutating func follow(_ entry: JournalEntry, at place: ChainPlace) {
        follow(entry, at: place, moved: MovedRows(entry))
    }

    /// - Parameter moved: what it says, if it tells of a move.
    mutating func follow(_ entry: JournalEntry, at place: ChainPlace, moved: MovedRows?) {
        if let moved { return follow(moved, at: place) }
        if let key = entry.text("key").flatMap(Base64URL.decode).flatMap(KeyIdentity.init(bytes:)) {
            switch entry.kind {
            case .notVerified, .pinTriesPutBack: ofKeys.fail(key, entry.number("failures"), at: place)
            case .verified: ofKeys.clear(key, at: place, entry.sequence)
            default: break
            }
            return
        }
        guard let id = entry.enrollment else { return }
        if entry.kind == .pinChanged, let version = entry.number("rowVersion").flatMap(UInt64.init(exactly:)) {
            changes[id] = max(changes[id] ?? 0, version)
        }
        switch entry.kind {
        case .notVerified: ofEnrollments.fail(id, entry.number("failures"), at: place)
        case .verified, .pinChanged: ofEnrollments.clear(id, at: place, entry.sequence)
        case .decided where entry.text("verified") != nil: ofEnrollments.clear(id, at: place, entry.sequence)
        default: break
        }
    }

    private mutating func follow(_ rows: MovedRows, at place: ChainPlace) {
        if rows.part == 1 {
            ofEnrollments.forget(place.host)
            ofKeys.forget(place.host)
        }
        for case (let id, .live(_, let failures)) in rows.enrollments where failures > 0 {
            ofEnrollments.fail(id, failures, at: place)
        }
        for (key, failures) in rows.failuresOfKeys where failures > 0 { ofKeys.fail(key, failures, at: place) }
    }

    /// How many more tries an enrollment has had than its row says; nil if the row says as many, or more.
    func missing(in enrollment: Enrollment) -> Int? {
        guard !enrollment.isOver, enrollment.key == .own,
            let known = ofEnrollments.count(enrollment.id, behind: starts),
            known > Int64(enrollment.ownPINTries.failures),
            let count = Int(exactly: known)
        else { return nil }
        return count
    }

    /// Whether its PIN was changed after its row was written.
    func isOlder(_ enrollment: Enrollment) -> Bool {
        !enrollment.isOver && changes[enrollment.id] ?? 0 > UInt64(max(enrollment.version, 0))
    }

    /// The keys that have had more tries than their rows say, with how many those were.
    func missing(in rows: [KeyIdentity: PINTries]) -> [KeyIdentity: Int] {
        var missing: [KeyIdentity: Int] = [:]
        for key in ofKeys.keys {
            guard let count = ofKeys.count(key, behind: starts).flatMap(Int.init(exactly:)),
                count > (rows[key] ?? .fresh).failures
            else { continue }
            missing[key] = count
        }
        return missing
    }
}
