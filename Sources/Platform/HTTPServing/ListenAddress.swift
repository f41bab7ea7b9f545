import NIOCore

/// A HOST:PORT to listen on; with port 0, the system chooses the port.
package struct ListenAddress: Sendable, Equatable {
    /// The hosts that a setting accepts.
    package enum Hosts: Sendable {
        /// IP addresses and `localhost`.
        case addresses
        /// IP addresses, `localhost` and host names.
        case addressesAndNames
    }

    package let host: String
    package let port: Int

    /// Reads HOST:PORT, such as `localhost:8080`, `192.0.2.1:0` or `[2001:db8::1]:8443`.
    ///
    /// If names are allowed, it also reads `issuer.example:443`. It returns `nil` for any other text.
    package init?(_ text: String, hosts: Hosts) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), port <= 65_535, let host = Self.host(text[..<colon], hosts)
        else { return nil }
        self.host = host
        self.port = port
    }

    /// The written form, such as `localhost:8080` or `[::1]:8080`.
    package var text: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || Self.isIPAddress(host) && host.hasPrefix("127.")
    }

    /// Returns the host without brackets, which only an IPv6 address has, or `nil` for any other text.
    private static func host(_ text: Substring, _ hosts: Hosts) -> String? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = String(isBracketed ? text.dropFirst().dropLast() : text)
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        guard isBracketed == isIPv6 else { return nil }
        if isIPAddress(host) || host == "localhost" { return host }
        return hosts == .addressesAndNames && !isIPv6 && isName(host) ? host.lowercased() : nil
    }

    private static func isIPAddress(_ text: String) -> Bool { (try? SocketAddress(ipAddress: text, port: 0)) != nil }

    private static func isName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
