import Keys
package import Records
import TextAndTime

/// Follows the journal by its digests alone, which is quick; ``JournalCheck`` says what is wrong if it does not hold.
///
/// If the last entry is one that is signed, all before it are what the agent wrote, byte for byte.
package struct JournalChain: Sendable {
    /// The last entry that was followed.
    package private(set) var last: JournalPoint

    package init(after point: JournalPoint) { last = point }

    /// Behind which the first of some entries says that it is; nil if it says nothing.
    init?(before first: JournalRow) {
        guard first.sequence > 0, let digits = first.previousDigits,
            let digest = Hexadecimal.digest(String(decoding: digits, as: UTF8.self))
        else { return nil }
        last = JournalPoint(sequence: first.sequence - 1, digest: digest)
    }

    /// False if the row does not follow the one before it.
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

    /// What it says the digest of the entry before it is.
    fileprivate var previousDigits: ArraySlice<UInt8>? {
        guard let start = end(of: Self.previous), bytes.count - start > 2 * SHA256Digest.count else { return nil }
        return bytes[start..<start + 2 * SHA256Digest.count]
    }

    // As far as its bytes say without being read as JSON: of a row that the agent wrote, that is what the entry says.

    /// The request that it is about; nil if it is about none.
    var request: RequestID? { text(after: Self.request).flatMap(RequestID.init) }

    /// The enrollment that it is about; nil if it is about none.
    var enrollment: EnrollmentID? { text(after: Self.enrollment).flatMap(EnrollmentID.init) }

    package var kind: JournalFact.Kind? { text(after: Self.kind).flatMap(JournalFact.Kind.init) }

    /// When it was written.
    var at: String? { text(after: Self.at) }

    /// None of what is looked for has a character that JSON escapes.
    private func text(after name: [UInt8]) -> String? {
        guard let start = end(of: name), let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Whether rows of enrollments and keys are held against it.
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
    /// Where the first place ends that has these bytes.
    ///
    /// Those that begin with a quotation mark and go on with a name are in no text within JSON.
    package func end(of wanted: [UInt8]) -> Int? {
        guard let first = wanted.first, count >= wanted.count else { return nil }
        return unsafe withUnsafeBufferPointer { bytes in
            for place in 0...(bytes.count - wanted.count) {
                guard unsafe bytes[place] == first else { continue }
                // Most quotation marks begin something else, which shows at once.
                var length = 1
                while length < wanted.count, unsafe bytes[place + length] == wanted[length] { length += 1 }
                if length == wanted.count { return startIndex + place + length }
            }
            return nil
        }
    }
}
