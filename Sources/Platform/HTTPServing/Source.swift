import Glibc

/// The origin of a connection: a host, as far as hosts can be told apart, or a network.
package struct Source: Hashable, Sendable {
    /// The byte 4 or 6, then the first bytes of the address; empty for a peer without an address.
    private let bytes: [UInt8]

    /// Returns the networks of an address, the widest first, and the host at last.
    ///
    /// A host is an IPv4 address, or the first 64 bits of an IPv6 address, because one host may have all the rest. A
    /// client with many hosts has them in one network: /48 and /32 for IPv6, /24 and /16 for IPv4. A loopback address
    /// has no host, because many connections may come from this machine.
    static func path(of address: String?) -> [Source] {
        var (ipv4, ipv6) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 16))
        if let address, unsafe inet_pton(AF_INET, address, &ipv4) == 1 { return path(ipv4: ipv4) }
        guard let address, unsafe inet_pton(AF_INET6, address, &ipv6) == 1 else { return [Source(bytes: [])] }
        // An IPv4-mapped address (RFC 4291 §2.5.5.2) counts as its IPv4 address.
        if ipv6.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] { return path(ipv4: Array(ipv6.suffix(4))) }
        let isLoopback = ipv6.last == 1 && ipv6.dropLast().allSatisfy { $0 == 0 }
        return (isLoopback ? [16] : [4, 6, 8]).map { Source(bytes: [6] + ipv6.prefix($0)) }
    }

    private static func path(ipv4: [UInt8]) -> [Source] {
        (ipv4.first == 127 ? [1] : [2, 3, 4]).map { Source(bytes: [4] + ipv4.prefix($0)) }
    }
}
