import IssuerProtocol
import Records
import StrictJSON
import TextAndTime

/// The rows of a state that several hosts shared and that now has one chain, as the journal reports them.
///
/// The other hosts had recorded the rows in their own chains, which no longer exist.
struct MovedRows: Sendable {
    /// The statement about an enrollment.
    enum Row: Sendable, Equatable {
        case live(signCount: Int64, failures: Int64)
        case ended
    }

    /// Maximum number of rows in one entry, to keep the entry small.
    private static let inEntry = 16

    /// The number of the part, from 1; the first part cancels all earlier entries about wrong PINs.
    let part: Int64
    let enrollments: [EnrollmentID: Row]
    let failuresOfKeys: [KeyIdentity: Int64]

    var ended: [EnrollmentID] { enrollments.filter { $0.value == .ended }.map(\.key) }
}

extension MovedRows {
    /// Makes the entries while the rows are read; there is a first entry even if there are no rows.
    struct Facts {
        private var part: Int64 = 0

        mutating func facts(of enrollments: [Enrollment]) -> [JournalFact] {
            facts("enrollments", of: enrollments.map { .init(name: $0.id.text, value: .string(Row($0).text)) })
        }

        /// Makes the remaining entries.
        mutating func facts(concluding keyTries: [KeyIdentity: PINTries]) -> [JournalFact] {
            let keys = keyTries.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map { key, tries in
                JSONObject.Member(name: Base64URL.encode(key.bytes), value: .string(String(tries.failures)))
            }
            let facts = facts("keys", of: keys)
            return part > 0 ? facts : [JournalFact(.moved, ["part": .integer(1)])]
        }

        private mutating func facts(_ name: String, of members: [JSONObject.Member]) -> [JournalFact] {
            stride(from: 0, to: members.count, by: inEntry).map { start in
                part += 1
                let some = Array(members[start..<min(start + inEntry, members.count)])
                return JournalFact(.moved, ["part": .integer(part), name: .object(JSONObject(some))])
            }
        }
    }

    /// Returns `nil` if the entry is of another kind, or if one of its rows is malformed.
    init?(_ entry: JournalEntry) {
        guard entry.kind == .moved, let part = entry.number("part") else { return nil }
        var (enrollments, keys): ([EnrollmentID: Row], [KeyIdentity: Int64]) = ([:], [:])
        for (name, text) in Self.members("enrollments", of: entry) {
            guard let id = EnrollmentID(name), let row = Row(text) else { return nil }
            enrollments[id] = row
        }
        for (name, text) in Self.members("keys", of: entry) {
            guard let key = Base64URL.decode(name).flatMap(KeyIdentity.init(bytes:)), let failures = Int64(text) else {
                return nil
            }
            keys[key] = failures
        }
        (self.part, self.enrollments, failuresOfKeys) = (part, enrollments, keys)
    }

    private static func members(_ name: String, of entry: JournalEntry) -> [(String, String)] {
        guard case .object(let object)? = entry.json[name] else { return [] }
        return object.members.map { member in
            if case .string(let text) = member.value { (member.name, text) } else { (member.name, "") }
        }
    }
}

extension MovedRows.Row {
    fileprivate init(_ enrollment: Enrollment) {
        guard !enrollment.isOver else {
            self = .ended
            return
        }
        // The wrong PINs of a key that existed already are counted for the key.
        let failures = enrollment.key == .own ? enrollment.ownPINTries.failures : 0
        self = .live(signCount: Int64(enrollment.signCount), failures: Int64(failures))
    }

    fileprivate var text: String {
        switch self {
        case .ended: "ended"
        case .live(let signCount, let failures): "\(signCount) \(failures)"
        }
    }

    fileprivate init?(_ text: String) {
        guard text != "ended" else {
            self = .ended
            return
        }
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 2, let signCount = numbers[0], let failures = numbers[1] else { return nil }
        self = .live(signCount: signCount, failures: failures)
    }
}
