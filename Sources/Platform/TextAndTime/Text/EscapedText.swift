/// A peer's text in a form that is safe for an error message or a log line.
package enum EscapedText {
    /// Keeps printable ASCII except the backslash, writes other scalars as `\u{…}`, and cuts after `limit` scalars.
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
