/// Where a page is served from, as a browser's address shows it.
package struct PageOrigin: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// With the port unless it is the scheme's own, such as `127.0.0.1:8300`.
    package let host: String

    package init(scheme: String, host: String) {
        self.scheme = scheme
        self.host = host
    }

    /// Reads one such as `https://inbox.example`, without a path; nil for any other text.
    package init?(_ text: String) {
        guard let scheme = ["http", "https"].first(where: { text.hasPrefix("\($0)://") }) else { return nil }
        let host = text.dropFirst(scheme.utf8.count + 3)
        let isHost = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
        guard (1...259).contains(host.utf8.count), isHost else { return nil }
        self.init(scheme: scheme, host: String(host))
    }

    package var text: String { "\(scheme)://\(host)" }
}
