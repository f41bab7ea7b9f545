import TextAndTime

/// Where a chain stands: an entry's number, and the digest of its bytes.
package struct JournalPoint: Sendable, Equatable {
    package let sequence: Int64
    /// SHA-256.
    package let digest: [UInt8]

    package init(sequence: Int64, digest: [UInt8]) {
        self.sequence = sequence
        self.digest = digest
    }

    /// The digest as sha256sum(1) prints it.
    package var hexadecimal: String { Hexadecimal.text(digest) }

    /// What the audit key signs about the point: three lines.
    package func statement(_ name: JournalMark.Name) -> String {
        "oob-agent journal \(name.rawValue) 1\n\(sequence)\n\(hexadecimal)\n"
    }

    /// Before the first entry.
    package static let beginning = JournalPoint(sequence: 0, digest: JournalEntry.nothingBefore)
}

/// A point of the journal that the audit key has signed.
package struct JournalMark: Sendable, Equatable {
    /// What a mark says.
    package enum Name: String, Sendable, CaseIterable {
        /// The newest entry: the journal ends here, so nothing can be cut off behind it unseen.
        case head
        /// The last entry that was removed for its age: the journal begins behind it.
        case floor
    }

    package let point: JournalPoint
    /// A DER ECDSA-Sig-Value over ``JournalStatement/bytes``; nil only inside the database transaction that moves it.
    package let signature: [UInt8]?
    /// Of a head: the sum over the rows that its host wrote (``RowSum``), which the store keeps, sealed for this very head.
    package let rows: [UInt8]?

    package init(point: JournalPoint, signature: [UInt8]?, rows: [UInt8]? = nil) {
        self.point = point
        self.signature = signature
        self.rows = rows
    }

    /// Whether both are the same point under the same signature; of the rows ``RowWatch`` sees whether they are as it says.
    package static func == (left: JournalMark, right: JournalMark) -> Bool {
        left.point == right.point && left.signature == right.signature
    }
}

/// What the audit key signs, and nothing else: lines of text that no other signature of the agent's is over.
///
/// ```
/// oob-agent journal head 1
/// 17
/// 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
/// ```
/// The first line differs for head, floor, checkpoint and extract, so that none can pass for another.
package struct JournalStatement: Sendable {
    package let bytes: [UInt8]

    package init(_ name: JournalMark.Name, _ point: JournalPoint) {
        bytes = Array(point.statement(name).utf8)
    }

    /// Says that the journal has these entries, and ends with `head`.
    ///
    /// ```
    /// oob-agent journal extract 1
    /// 17 5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456
    /// 12 8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92
    /// ```
    /// First the head, then the entries in their order.
    package init(extract entries: [JournalPoint], head: JournalPoint) {
        bytes = Self.list("extract", [head] + entries)
    }

    /// Says that the journal has this entry, and that entries before it are these.
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
