import Keys
package import Records
import TextAndTime

/// Verifies the journal by its digests alone, which is fast.
///
/// If the digests do not match, ``JournalCheck`` finds out what is wrong. If the last entry is signed, all entries
/// before it are what the agent wrote, byte for byte.
package struct JournalChain: Sendable {
    /// The last verified entry.
    package private(set) var last: JournalPoint

    package init(after point: JournalPoint) { last = point }

    /// Starts before `first`, at the digest in its `previous` member, or returns `nil` if it has none.
    init?(before first: JournalRow) {
        guard first.sequence > 0, let digits = first.previousDigits,
            let digest = Hexadecimal.digest(String(decoding: digits, as: UTF8.self))
        else { return nil }
        last = JournalPoint(sequence: first.sequence - 1, digest: digest)
    }

    /// Advances by one row, or returns `false` if the row does not follow the last one.
    package mutating func follow(_ row: JournalRow) throws -> Bool {
        guard row.sequence - 1 == last.sequence, let previous = row.previousDigits,
            Hexadecimal.isText(previous, of: last.digest)
        else { return false }
        last = JournalPoint(sequence: row.sequence, digest: try SHA256Digest.of(row.bytes))
        return true
    }
}

extension JournalRow {
    private static let previous = Array(#""previous":""#.utf8)
    private static let request = Array(#""request":""#.utf8)
    private static let enrollment = Array(#""enrollment":""#.utf8)
    private static let kind = Array(#""entry":""#.utf8)
    private static let at = Array(#""at":""#.utf8)

    /// The digest in the `previous` member, in hexadecimal.
    fileprivate var previousDigits: ArraySlice<UInt8>? {
        guard let start = end(of: Self.previous), bytes.count - start > 2 * SHA256Digest.count else { return nil }
        return bytes[start..<start + 2 * SHA256Digest.count]
    }

    // These members are found in the bytes without parsing JSON. In a row that the agent wrote, they equal the entry's
    // members.

    /// The request of the entry, or `nil` if it is about none.
    var request: RequestID? { text(after: Self.request).flatMap(RequestID.init) }

    /// The enrollment of the entry, or `nil` if it is about none.
    var enrollment: EnrollmentID? { text(after: Self.enrollment).flatMap(EnrollmentID.init) }

    package var kind: JournalFact.Kind? { text(after: Self.kind).flatMap(JournalFact.Kind.init) }

    /// The time at which the entry was written.
    var at: String? { text(after: Self.at) }

    /// Returns the text behind a member's name; the wanted texts have no character that JSON escapes.
    private func text(after name: [UInt8]) -> String? {
        guard let start = end(of: name), let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Whether rows of enrollments and keys are compared with the entry.
    var tellsOfRows: Bool {
        switch kind {
        case nil, .received, .presented, .superseded, .duplicate, .conflict, .refused, .expired, .cancelled, .sent,
            .answered, .deliveryFailed, .played, .started, .stopped:
            false
        case .decided: end(of: Self.signCount) != nil || end(of: Self.verified) != nil
        default: true
        }
    }

    private static let signCount = Array(#""signCount":"#.utf8)
    private static let verified = Array(#""verified":""#.utf8)

    private func end(of wanted: [UInt8]) -> Int? { bytes[...].end(of: wanted) }
}

extension ArraySlice<UInt8> {
    /// Returns the end of the first occurrence of these bytes.
    ///
    /// Bytes that begin with a quotation mark and a member's name never occur inside a JSON string.
    package func end(of wanted: [UInt8]) -> Int? {
        guard let first = wanted.first, count >= wanted.count else { return nil }
        return unsafe withUnsafeBufferPointer { bytes in
            for place in 0...(bytes.count - wanted.count) {
                guard unsafe bytes[place] == first else { continue }
                // Most quotation marks begin something else, so most comparisons end at once.
                var length = 1
                while length < wanted.count, unsafe bytes[place + length] == wanted[length] { length += 1 }
                if length == wanted.count { return startIndex + place + length }
            }
            return nil
        }
    }
}
