/// The start of a text from the tested side, with the number of omitted bytes.
package struct Excerpt: Sendable, Equatable {
    /// The text, cut between two scalars.
    let text: String
    /// The number of bytes after it.
    let left: Int

    /// Keeps at most `limit` bytes; invalid UTF-8 is repaired.
    init(_ bytes: [UInt8], limit: Int = Exchange.maxBody) {
        if bytes.count <= limit {
            self.init(decoding: bytes[...], of: bytes.count, limit: limit)
            return
        }
        var end = limit
        while end > 0, limit - end < 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        self.init(decoding: bytes[..<end], of: bytes.count, limit: limit)
    }

    init(_ text: String, limit: Int = Exchange.maxBody) { self.init(Array(text.utf8), limit: limit) }

    init(text: String, left: Int) {
        self.text = text
        self.left = left
    }

    /// Repairs the text; an invalid byte becomes three, so a third of a longer text is kept.
    private init(decoding bytes: ArraySlice<UInt8>, of count: Int, limit: Int) {
        let decoded = String(decoding: bytes, as: UTF8.self)
        guard decoded.utf8.count > limit else {
            self.init(text: decoded, left: count - bytes.count)
            return
        }
        let some = bytes.prefix(limit / 3)
        self.init(text: String(decoding: some, as: UTF8.self), left: count - some.count)
    }

    /// The text for a report: without control characters, and with a note about the omitted bytes.
    var shown: String {
        let escaped = ReportText.of(text)
        return left > 0 ? "\(escaped) … (\(left) more bytes are left out)" : escaped
    }
}
