import Keys
import TextAndTime

/// The head of a host's chain, as kept outside the database.
///
/// ```
/// oob-agent journal head 1
/// 17
/// 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
/// MEUCIQ...
/// 8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92
/// ```
/// The three lines that the audit key signs, the signature in base64url, and the SHA-256 of the audit key.
package enum HeadNote: Sendable, Equatable {
    /// The next head is accepted without a comparison, once: at a first start, or after a restore by the agent.
    case accepted
    case head(JournalMark, key: [UInt8])

    /// Maximum size of a note, in bytes.
    package static let maxBytes = 512

    private static let acceptedText = "oob-agent journal head accepted\n"

    package var bytes: [UInt8] { Array(text.utf8) }

    private var text: String {
        switch self {
        case .accepted: Self.acceptedText
        case .head(let mark, let key):
            mark.point.statement(.head) + Base64URL.encode(mark.signature ?? []) + "\n" + Hexadecimal.text(key) + "\n"
        }
    }

    /// Parses a note, or returns `nil` if the agent cannot have written the bytes.
    package init?(_ bytes: [UInt8]) {
        if bytes == Self.accepted.bytes {
            self = .accepted
            return
        }
        guard bytes.count <= Self.maxBytes else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 5, let sequence = Int64(lines[1]), sequence > 0,
            let digest = Hexadecimal.digest(lines[2]), let signature = Base64URL.decode(lines[3]), !signature.isEmpty,
            let key = Hexadecimal.digest(lines[4])
        else { return nil }
        let point = JournalPoint(sequence: sequence, digest: digest)
        self = .head(JournalMark(point: point, signature: signature), key: key)
        // Each note has only one valid form.
        guard self.bytes == bytes else { return nil }
    }
}

/// A place outside the database where a host keeps its head.
package protocol HeadKeeper: Sendable {
    /// The path of the place, for messages.
    var path: String { get }
    /// Reads the last note.
    ///
    /// - Throws: an error if reading is not possible now, such as with too few descriptors. Another start may succeed.
    func read() async throws -> KeptHead
    /// Replaces the note, atomically and durably.
    func write(_ note: HeadNote) async throws
}

/// Result of reading the kept head.
package enum KeptHead: Sendable, Equatable {
    case nothing
    case note(HeadNote)
    /// A note that exists but may not be used, such as because of its mode: the reason, with its path.
    case unreadable(String)
}

/// The error for a kept head of another journal than the database's; neither is changed.
package struct ForeignHeadError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    package init(_ path: String, _ clause: String, _ advice: String = "") {
        description =
            "\(path) is of another agent's or host's journal, \(clause): start the agent on the database that it belongs to"
            + advice
    }
}
