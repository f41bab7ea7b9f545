/// A `traceparent` that is safe to send as an HTTP header: W3C Trace Context §3.2.2, version 00.
///
/// The fields of a later version are unknown, so it is left out like a malformed one (§3.2.4).
package struct Traceparent: Sendable {
    /// 55 bytes of lower-case hexadecimal digits and hyphens.
    package let text: String

    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isOfHexadecimal = parts.joined().allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard isOfHexadecimal, parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8),
            parts[1...2].allSatisfy({ id in !id.allSatisfy { $0 == UInt8(ascii: "0") } })
        else { return nil }
        self.text = text
    }
}
