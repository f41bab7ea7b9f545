/// The beginning of a text of the tested side's, and how much of it was left out.
package struct Excerpt: Sendable, Equatable {
    /// Cut between two scalars.
    let text: String
    /// The bytes that came behind it.
    let left: Int

    /// Keeps at most `limit` bytes; what is not UTF-8 is repaired.
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

    /// A byte that is not UTF-8 comes out as three, so of such a text a third is kept.
    private init(decoding bytes: ArraySlice<UInt8>, of count: Int, limit: Int) {
        let decoded = String(decoding: bytes, as: UTF8.self)
        guard decoded.utf8.count > limit else {
            self.init(text: decoded, left: count - bytes.count)
            return
        }
        let some = bytes.prefix(limit / 3)
        self.init(text: String(decoding: some, as: UTF8.self), left: count - some.count)
    }

    /// The text as it may be shown: without control characters, and with a sentence about what is missing.
    var shown: String {
        let escaped = ReportText.of(text)
        return left > 0 ? "\(escaped) … (\(left) more bytes are left out)" : escaped
    }
}
