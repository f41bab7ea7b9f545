import Keys
import TextAndTime

/// The head of a host's chain, as it is noted outside the database.
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
    /// The next head that is found is taken as it is, once: of a first start, or after a restore by the agent's own means.
    case accepted
    case head(JournalMark, key: [UInt8])

    /// The most bytes that a note has.
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

    /// Reads a note; nil for bytes that no agent has written.
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
        // Each note has a single form.
        guard self.bytes == bytes else { return nil }
    }
}

/// The place outside the database where a host notes its head.
package protocol HeadKeeper: Sendable {
    /// The place, for messages.
    var path: String { get }
    /// Reads what was written last.
    ///
    /// - Throws: if it cannot be told now, such as for too few open files: another start may go well.
    func read() async throws -> KeptHead
    /// Writes a note in the place of the one that is there: all of it, durable, or nothing.
    func write(_ note: HeadNote) async throws
}

/// A keeper's answer.
package enum KeptHead: Sendable, Equatable {
    case nothing
    case note(HeadNote)
    /// It is there and may not be used, such as for its mode: why, with its path.
    case unreadable(String)
}

/// The noted head is of another journal than the database has: neither is touched.
package struct ForeignHeadError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    package init(_ path: String, _ clause: String, _ advice: String = "") {
        description =
            "\(path) is of another agent's or host's journal, \(clause): start the agent on the database that it belongs to"
            + advice
    }
}
