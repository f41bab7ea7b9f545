/// The origin of a page, as a browser's address bar shows it.
package struct PageOrigin: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// The host, with the port unless it is the scheme's default, such as `127.0.0.1:8300`.
    package let host: String

    package init(scheme: String, host: String) {
        self.scheme = scheme
        self.host = host
    }

    /// Reads an origin such as `https://inbox.example`, without a path, or returns `nil` for any other text.
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
