/// Text of merchants and issuers as it may be shown on a terminal.
enum ShownText {
    /// The most bytes of one text.
    static let limit = 262_144

    /// The text with everything escaped that a terminal obeys or that reorders or hides text, and not too long.
    ///
    /// Such scalars come out as `\uXXXX`, as JSON has them, above U+FFFF as a pair of surrogates.
    static func of(_ text: String) -> String {
        var (bytes, left): ([UInt8], Int) = ([], text.utf8.count)
        for scalar in text.unicodeScalars {
            let width = UTF8.width(scalar)
            guard bytes.count + 12 <= limit else { break }
            left -= width
            if isFit(scalar) {
                bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            } else {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    bytes += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8
                }
            }
        }
        let shown = String(decoding: bytes, as: UTF8.self)
        return left > 0 ? "\(shown) … (\(left) more bytes are left out)" : shown
    }

    private static func isFit(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" || scalar == " " { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .spaceSeparator, .surrogate,
            .unassigned:
            return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
