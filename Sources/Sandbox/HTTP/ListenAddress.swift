import Glibc
import NIOCore

/// HOST:PORT to listen on; port 0 is the system's choice.
package struct ListenAddress: Sendable, Equatable {
    package let host: String
    package let port: Int

    /// Takes `localhost:8080`, `127.0.0.1:0`, `[::1]:8080`, `issuer.example:443`; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), port <= 65_535, let host = Self.host(text[..<colon])
        else { return nil }
        self.host = host
        self.port = port
    }

    /// As it is written, `localhost:8080` or `[::1]:8080`.
    package var text: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool {
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = bytes.count == 4 && bytes.allSatisfy { UInt8($0) != nil }
        return host == "localhost" || host == "::1" || isIPv4 && bytes[0] == "127"
    }

    /// An IPv6 address stands in brackets.
    private static func host(_ text: Substring) -> String? {
        if text.first == "[" {
            guard text.last == "]", text.count > 3 else { return nil }
            return String(text.dropFirst().dropLast())
        }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return (1...253).contains(text.utf8.count) && isName ? text.lowercased() : nil
    }
}

/// Why the sandbox cannot listen on an address.
package struct ListenError: Error, CustomStringConvertible {
    /// Another program has the address.
    package let isTaken: Bool
    package let description: String

    init(_ address: ListenAddress, _ error: IOError) {
        isTaken = error.errnoCode == EADDRINUSE
        description =
            switch error.errnoCode {
            case EADDRINUSE: "the address \(address.text) is in use by another program; choose another with --listen"
            case EADDRNOTAVAIL: "this host does not have the address \(address.text); choose another with --listen"
            case EACCES: "\(address.text): a port below 1024 takes a privilege; choose another with --listen"
            // glibc keeps the text per thread (strerror(3)), and it is copied at once.
            default: "cannot listen on \(address.text): \(unsafe String(cString: strerror(error.errnoCode)))"
            }
    }

    init(unknownHostOf address: ListenAddress) {
        isTaken = false
        description = "the host \(address.host) has no address here; choose another with --listen"
    }
}
