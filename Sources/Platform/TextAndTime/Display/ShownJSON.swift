/// JSON made fit for a terminal: the same value, with nothing in it that a terminal obeys or does not show.
package enum ShownJSON {
    /// Scalars that `DisplayText` would escape come out as `\uXXXX`, as a pair of surrogates above U+FFFF (RFC 8259 §7).
    ///
    /// A combining mark that begins a text stays: in JSON it combines with a quotation mark, and hides nothing.
    ///
    /// - Parameter json: JSON, or lines of it. Outside of strings that is ASCII, and in a string no such scalar follows
    ///   a backslash.
    package static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: mustBeEscaped) else { return json }
        // In bytes: appending to a view of scalars copies all that is there already, each time.
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

    /// What is below U+0020 is JSON's own white space here: an encoder escapes it within a string.
    private static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.isUnfitToShow
    }
}
