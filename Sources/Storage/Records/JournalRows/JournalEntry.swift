import Keys
package import StrictJSON
import TextAndTime

/// A row of the journal: its number, and the bytes that the hash chain covers.
package struct JournalRow: Sendable {
    package let sequence: Int64
    /// The entry as JSON in its canonical form (RFC 8785).
    package let bytes: [UInt8]

    package init(sequence: Int64, bytes: [UInt8]) {
        self.sequence = sequence
        self.bytes = bytes
    }
}

/// An entry of the journal: a JSON object with `seq`, `at`, `entry`, `previous` and the members of its kind.
package struct JournalEntry: Sendable {
    /// The `previous` of the first entry.
    static let nothingBefore = [UInt8](repeating: 0, count: SHA256Digest.count)
    /// Limits for parsing an entry, far above those of any written entry.
    private static let limits = JSONLimits(maxBytes: 8_192, maxDepth: 2, maxValues: 32)

    package let sequence: Int64
    /// The time in RFC 3339, UTC, whole seconds.
    package let at: String
    package let kind: JournalFact.Kind
    /// SHA-256 of the canonical bytes of the previous entry.
    package let previous: [UInt8]
    package let json: JSONObject
    package let bytes: [UInt8]

    /// Creates the entry that follows `last`.
    package init(_ fact: JournalFact, at now: Int64, after last: JournalPoint) throws {
        sequence = last.sequence + 1
        at = UTCTime.text(now)
        kind = fact.kind
        previous = last.digest
        let own: [JSONObject.Member] = [
            .init(name: "seq", value: .integer(sequence)), .init(name: "at", value: .string(at)),
            .init(name: "entry", value: .string(kind.rawValue)),
            .init(name: "previous", value: .string(Hexadecimal.text(previous))),
        ]
        json = JSONObject(own + fact.members.members)
        bytes = try RFC8785.canonical(.object(json))
    }

    /// Parses a row, or returns `nil` if its bytes are not an entry in the canonical form.
    package init?(_ row: JournalRow) { self.init(row, isFollowed: false) }

    /// - Parameter isFollowed: whether its digest was verified, which also proves the form.
    package init?(_ row: JournalRow, isFollowed: Bool) {
        do {
            let json = try JSONReader.object(row.bytes, limits: Self.limits)
            guard try isFollowed || RFC8785.canonical(.object(json)) == row.bytes,
                let kind = JournalFact.Kind(rawValue: try json.string("entry")),
                let previous = Hexadecimal.digest(try json.string("previous"))
            else { return nil }
            self.kind = kind
            self.previous = previous
            self.json = json
            sequence = try json.integer("seq", in: 0...Int64.max / 2)
            at = try json.string("at")
            bytes = row.bytes
        } catch {
            return nil
        }
    }

    package var row: JournalRow { JournalRow(sequence: sequence, bytes: bytes) }

    /// The enrollment of the entry, or `nil` if it is about none.
    package var enrollment: EnrollmentID? { text("enrollment").flatMap(EnrollmentID.init) }

    /// The request of the entry, or `nil` if it is about none.
    package var request: RequestID? { text("request").flatMap(RequestID.init) }

    /// The point of the chain after this entry.
    package var point: JournalPoint {
        get throws { JournalPoint(sequence: sequence, digest: try SHA256Digest.of(bytes)) }
    }
}
