import IssuerProtocol
import Records
import TextAndTime

/// Wrong and changed PINs as the journal reports them, for enrollments with the agent's own keys and for other keys.
///
/// A row with a lower count was restored from an older copy, and a missing row was deleted.
struct JournaledPINTries: Sendable {
    private var ofEnrollments = ChainTries<EnrollmentID>()
    private var ofKeys = ChainTries<KeyIdentity>()
    /// The row's version at the last change of the PIN, by enrollment; a move of the state keeps or raises it.
    private var changes = CompactNumbers<EnrollmentID>()
    /// The number behind which each chain was read.
    private(set) var starts: [String: Int64] = [:]

    /// Sets the number behind which a chain was read.
    mutating func begin(_ host: String, behind start: Int64) { starts[host] = start }

    mutating func follow(_ entry: JournalEntry, at place: ChainPlace) {
        follow(entry, at: place, moved: MovedRows(entry))
    }

    /// - Parameter moved: the content of the entry, if it reports a move.
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

    /// Returns the journal's count of wrong PINs, or `nil` if the count in the row is as high or higher.
    func missing(in enrollment: Enrollment) -> Int? {
        guard !enrollment.isOver, enrollment.key == .own,
            let known = ofEnrollments.count(enrollment.id, behind: starts),
            known > Int64(enrollment.ownPINTries.failures),
            let count = Int(exactly: known)
        else { return nil }
        return count
    }

    /// Returns whether the PIN was changed after the row was written.
    func isOlder(_ enrollment: Enrollment) -> Bool {
        !enrollment.isOver && changes[enrollment.id] ?? 0 > UInt64(max(enrollment.version, 0))
    }

    /// Returns the journal's count for each key that had more wrong PINs than its row says.
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
