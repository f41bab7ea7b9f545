/// JSON for a terminal: the same value, without scalars that a terminal obeys or does not show.
package enum ShownJSON {
    /// Writes scalars that `DisplayText` would escape as `\uXXXX`.
    ///
    /// A scalar above U+FFFF becomes a pair of surrogates (RFC 8259 §7). A combining mark that begins a text stays: in
    /// JSON it combines with a quotation mark, and does not hide any text.
    ///
    /// - Parameter json: JSON, or lines of it. Outside of strings it is ASCII, and in a string no such scalar follows a
    ///   backslash.
    package static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: mustBeEscaped) else { return json }
        // In bytes, because each append to a view of scalars copies all that it already contains.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            guard mustBeEscaped(scalar) else {
                bytes.append(contentsOf: scalar.utf8)
                continue
            }
            for unit in scalar.utf16 {
                let digits = String(unit, radix: 16)
                let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                bytes.append(contentsOf: escape.utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether a scalar must be escaped.
    ///
    /// Scalars below U+0020 are JSON's own white space here, because an encoder escapes them within a string.
    private static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.isUnfitToShow
    }
}
