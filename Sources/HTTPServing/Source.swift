import Glibc

/// Where a connection comes from, as far as hosts can be told apart.
///
/// An IPv4 address, or the first 64 bits of an IPv6 address, since one host may have all the rest.
struct Source: Hashable, Sendable {
    private let bytes: [UInt8]
    /// Whether many may come from it: a proxy, or this machine.
    let isShared: Bool

    init(bytes: [UInt8], isShared: Bool) {
        self.bytes = bytes
        self.isShared = isShared
    }

    /// - Parameters:
    ///   - address: an IP address as text; nil for a peer that has none.
    ///   - isBehindProxy: whether whoever connects is a proxy for others.
    init(_ address: String?, isBehindProxy: Bool) {
        var (ipv4, ipv6) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 16))
        if let address, unsafe inet_pton(AF_INET, address, &ipv4) == 1 {
            self.init(ipv4: ipv4, isBehindProxy)
        } else if let address, unsafe inet_pton(AF_INET6, address, &ipv6) == 1 {
            self.init(ipv6: ipv6, isBehindProxy)
        } else {
            self.init(bytes: [], isShared: true)
        }
    }

    private init(ipv4 bytes: [UInt8], _ isBehindProxy: Bool) {
        self.init(bytes: bytes, isShared: isBehindProxy || bytes.first == 127)
    }

    /// One that maps an IPv4 address (RFC 4291 §2.5.5.2) is that.
    private init(ipv6 bytes: [UInt8], _ isBehindProxy: Bool) {
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            self.init(ipv4: Array(bytes.suffix(4)), isBehindProxy)
        } else {
            let isLoopback = bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
            self.init(bytes: Array(bytes.prefix(8)), isShared: isBehindProxy || isLoopback)
        }
    }
}
