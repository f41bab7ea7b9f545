import NIOCore

/// ADDRESS:PORT to take pushes on; port 0 is the system's choice.
package struct ListenAddress: Sendable, Equatable {
    package let host: String
    package let port: Int

    /// Takes `localhost:8443`, `192.0.2.1:8443`, `[2001:db8::1]:8443`; nil for anything else, other names as well.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        guard isAddress && isBracketed == host.utf8.contains(UInt8(ascii: ":")) || host == "localhost" else {
            return nil
        }
        self.host = host
        self.port = port
    }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
