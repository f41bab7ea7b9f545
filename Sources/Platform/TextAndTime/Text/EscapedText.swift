/// Text of a peer made fit for an error message or a log line.
package enum EscapedText {
    /// Printable ASCII as it is, every other scalar as `\u{…}`, cut after `limit` scalars.
    package static func of(_ text: String, limit: Int = 80) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            if (0x20...0x7E).contains(scalar.value), scalar != "\\" {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            }
        }
        return text.unicodeScalars.count > limit ? result + "..." : result
    }
}
