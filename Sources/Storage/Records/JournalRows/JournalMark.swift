import TextAndTime

/// A point of a chain: the number of an entry, and the digest of its bytes.
package struct JournalPoint: Sendable, Equatable {
    package let sequence: Int64
    /// SHA-256 of the entry's bytes.
    package let digest: [UInt8]

    package init(sequence: Int64, digest: [UInt8]) {
        self.sequence = sequence
        self.digest = digest
    }

    /// The digest in the form of sha256sum(1).
    package var hexadecimal: String { Hexadecimal.text(digest) }

    /// Returns the statement about the point that the audit key signs: three lines.
    package func statement(_ name: JournalMark.Name) -> String {
        "oob-agent journal \(name.rawValue) 1\n\(sequence)\n\(hexadecimal)\n"
    }

    /// The point before the first entry.
    package static let beginning = JournalPoint(sequence: 0, digest: JournalEntry.nothingBefore)
}

/// A point of the journal that the audit key has signed.
package struct JournalMark: Sendable, Equatable {
    /// The meaning of a mark.
    package enum Name: String, Sendable, CaseIterable {
        /// The newest entry, where the journal ends, so that a removal of the last entries is noticed.
        case head
        /// The last entry that was removed because of its age; the journal begins behind it.
        case floor
    }

    package let point: JournalPoint
    /// A DER ECDSA-Sig-Value over ``JournalStatement/bytes``.
    ///
    /// `nil` only inside the database transaction that moves the mark.
    package let signature: [UInt8]?
    /// The sum over the rows that the host of a head wrote (``RowSum``); the store seals it for this head.
    package let rows: [UInt8]?

    package init(point: JournalPoint, signature: [UInt8]?, rows: [UInt8]? = nil) {
        self.point = point
        self.signature = signature
        self.rows = rows
    }

    /// Returns whether both have the same point and signature; ``RowWatch`` compares the rows with their sum.
    package static func == (left: JournalMark, right: JournalMark) -> Bool {
        left.point == right.point && left.signature == right.signature
    }
}

/// The statements that the audit key signs: lines of text that no other signature of the agent covers.
///
/// ```
/// oob-agent journal head 1
/// 17
/// 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
/// ```
/// The audit key signs no other data. The first line differs for head, floor, checkpoint and extract, so that none can
/// pass for another.
package struct JournalStatement: Sendable {
    package let bytes: [UInt8]

    package init(_ name: JournalMark.Name, _ point: JournalPoint) {
        bytes = Array(point.statement(name).utf8)
    }

    /// Creates the statement that the journal has these entries, and ends with `head`.
    ///
    /// ```
    /// oob-agent journal extract 1
    /// 17 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
    /// 12 8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92
    /// ```
    /// The head comes first, then the entries in their order.
    package init(extract entries: [JournalPoint], head: JournalPoint) {
        bytes = Self.list("extract", [head] + entries)
    }

    /// Creates the statement that the journal has this entry, and these earlier entries.
    ///
    /// ```
    /// oob-agent journal checkpoint 1
    /// 768 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
    /// 512 8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92
    /// ```
    package init(checkpoint point: JournalPoint, earlier: [JournalPoint]) {
        bytes = Self.list("checkpoint", [point] + earlier)
    }

    private static func list(_ name: String, _ points: [JournalPoint]) -> [UInt8] {
        let lines = points.map { "\($0.sequence) \($0.hexadecimal)\n" }
        return Array("oob-agent journal \(name) 1\n\(lines.joined())".utf8)
    }
}
