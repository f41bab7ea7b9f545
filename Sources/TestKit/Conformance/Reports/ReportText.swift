import TextAndTime

/// Text of a peer or a file as it may stand in a report or on a terminal, at whatever length.
enum ReportText {
    /// Control characters and what reorders or hides text come out as `\uXXXX`; nothing else is changed.
    static func of(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        // In UTF-8 these bytes are part of no other scalar.
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
