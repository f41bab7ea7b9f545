@_spi(_Unicode) import Swift

/// Text that a person types, copies or keeps in a file, without insignificant characters.
package enum TypedText {
    /// Returns the text without a byte order mark before it, and without white space at either end.
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let start = scalars.drop { $0 == "\u{FEFF}" || $0.properties.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(start[...end])
    }

    /// Returns a name that a person chose: trimmed, in Unicode's normalization form C.
    ///
    /// Keyboards and systems differ in whether `é` is one scalar or two.
    package static func name(_ text: String) -> String {
        composed(trimmed(text))
    }

    /// Returns the text in form C, in which letters that look and mean the same have the same bytes.
    package static func composed(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var composed = ""
        for scalar in text._nfc { composed += String(scalar) }
        return composed
    }
}
