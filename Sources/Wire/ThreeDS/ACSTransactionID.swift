import TextAndTime

/// The ACS's identifier of a transaction: EMV 3-D Secure's acsTransID, a UUID in the text form of RFC 9562 §4.
///
/// Two identifiers that differ only in letter case are equal.
package struct ACSTransactionID: Hashable, Sendable, CustomStringConvertible {
    /// The 36 characters as received.
    package let text: String
    /// The identifier in lower case, for comparisons and lookups.
    package let canonical: String

    /// Parses 36 characters: hexadecimal digits and hyphens in groups of 8-4-4-4-12.
    ///
    /// `nil` for anything else.
    ///
    /// Version and variant are not checked: EMV requires none, and the identifier is only ever compared.
    package init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            let isHyphenPlace = [8, 13, 18, 23].contains(index)
            guard isHyphenPlace ? byte == UInt8(ascii: "-") : byte.isASCIIHexDigit else { return nil }
        }
        self.text = text
        self.canonical = text.lowercased()
    }

    package static func == (left: ACSTransactionID, right: ACSTransactionID) -> Bool {
        left.canonical == right.canonical
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }

    package var description: String { text }
}
