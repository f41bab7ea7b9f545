/// The bearer token of one enrollment: 1 to 512 characters of RFC 6750 §2.1's `b64token`.
///
/// It can fetch and answer, but not sign. Even so, no form of printing shows it.
package struct AccessToken: Sendable {
    private let token: String

    package init?(_ text: String) {
        let body = Substring(text).utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        let isOfItsForm = body.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        guard isOfItsForm, !body.isEmpty, text.utf8.count <= 512 else { return nil }
        token = text
    }

    /// Returns the token itself, only for the `Authorization` header and the sealed store.
    package func reveal() -> String { token }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    // `dump` would show the stored property.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
