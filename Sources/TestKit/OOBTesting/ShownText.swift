/// Text of merchants and issuers, escaped for a terminal.
enum ShownText {
    /// The limit of one text, in bytes.
    static let limit = 262_144

    /// Escapes characters that control a terminal or reorder or hide text, and cuts a long text.
    ///
    /// Such a scalar becomes `\uXXXX` as in JSON, and above U+FFFF a pair of surrogates.
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
