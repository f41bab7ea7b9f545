import TextAndTime

/// Text of a peer or a file, escaped for a report or a terminal, without a limit of length.
enum ReportText {
    /// Escapes control characters, and characters that reorder or hide text, as `\uXXXX`.
    ///
    /// All other characters stay the same.
    static func of(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        // In UTF-8 these bytes are never part of another scalar.
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F {
                let digits = String(byte, radix: 16)
                bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            } else {
                bytes.append(byte)
            }
        }
        return ShownJSON.escaped(String(decoding: bytes, as: UTF8.self))
    }
}
