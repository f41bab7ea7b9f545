import CLinux
import Glibc
import Testing

/// Whom the kernel calls the owner of the other end of a connection; the sockets are real.
@Suite struct PeerOwnerTests {
    @Test(arguments: [Family.ipv4, .ipv6, .ipv4InIPv6]) func `the owner of a live connection is told`(
        family: Family
    ) throws {
        let pair = try Pair(family)
        #expect(pair.owner == geteuid())
    }

    @Test func `a connection whose client has closed it is nobody's, and not root's`() throws {
        let pair = try Pair(.ipv4)
        pair.closeClient()
        #expect(pair.owner == nil)
    }

    @Test func `a connection of which the client has closed its half is nobody's`() throws {
        let pair = try Pair(.ipv4)
        shutdown(pair.client, CInt(SHUT_WR))
        #expect(pair.owner == nil)
    }

    @Test func `one that listens at the port of a client that is gone is not taken for it`() throws {
        var listener: CInt?
        var pair = try Pair(.ipv4)
        for _ in 1...100 {
            let port = pair.clientPort
            // A reset: the port is free at once.
            var linger = linger(l_onoff: 1, l_linger: 0)
            _ = unsafe setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            pair.closeClient()
            listener = Pair.listening(.ipv4, port: port)
            if listener != nil { break }
            // Another process was quicker, or had the same port for a connection to elsewhere.
            pair = try Pair(.ipv4)
        }
        defer { listener.map { _ = close($0) } }
        try #require(listener != nil)
        #expect(pair.owner == nil)
    }

    @Test func `a pipe or a file has no peer`() {
        var owner: UInt32 = 0
        #expect(unsafe clinux_peer_owner(STDIN_FILENO, &owner) == -1)
        var pair: [CInt] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { pair.forEach { close($0) } }
        #expect(unsafe clinux_peer_owner(pair[0], &owner) == 0)
        #expect(owner == geteuid())
    }
}

/// Which addresses a connection has.
enum Family: Sendable { case ipv4, ipv6, ipv4InIPv6 }

/// Both ends of a connection on the loopback.
private final class Pair {
    private let listener: CInt
    private(set) var client: CInt
    private let server: CInt

    init(_ family: Family) throws {
        listener = try #require(Self.listening(family, port: 0))
        let port = Self.port(of: listener)
        let client = socket(family == .ipv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        self.client = client
        let called: Family = family == .ipv6 ? .ipv6 : .ipv4
        let connected = unsafe Self.withAddress(called, port: port) { unsafe connect(client, $0, $1) }
        try #require(connected == 0)
        server = accept(listener, nil, nil)
        try #require(server >= 0)
    }

    deinit {
        close(listener)
        if client >= 0 { close(client) }
        close(server)
    }

    var owner: UInt32? {
        var owner: UInt32 = 0
        return unsafe clinux_peer_owner(server, &owner) == 0 ? owner : nil
    }

    var clientPort: UInt16 { Self.port(of: client) }

    func closeClient() {
        close(client)
        client = -1
    }

    /// A socket that listens; `nil` if the port is not free.
    static func listening(_ family: Family, port: UInt16) -> CInt? {
        let listener = socket(family == .ipv4 ? AF_INET : AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
        var yes: CInt = 1
        _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        let bound = unsafe withAddress(family, port: port) { unsafe bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 8) == 0 else {
            close(listener)
            return nil
        }
        return listener
    }

    private static func port(of socket: CInt) -> UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &size) }
        }
        return UInt16(bigEndian: address.sin6_port)
    }

    private static func withAddress<Value>(
        _ family: Family, port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        if family == .ipv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        // All addresses, also IPv4's, or ::1 alone.
        if family == .ipv6 { address.sin6_addr = in6addr_loopback }
        return unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe use($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}
