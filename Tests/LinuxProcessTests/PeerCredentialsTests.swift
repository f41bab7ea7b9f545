import Glibc
import Testing

@testable import LinuxProcess

@Suite struct PeerCredentialsTests {
    private static let stream = CInt(SOCK_STREAM.rawValue)

    @Test func `both ends of a socket pair are this process`() throws {
        var pair: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Self.stream, 0, &pair) == 0)
        defer { for socket in pair { close(socket) } }
        for socket in pair {
            let peer = try PeerCredentials(socket: socket)
            #expect(peer.pid == getpid() && peer.uid == geteuid() && peer.gid == getegid())
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the peer of an accepted connection is the process that connected`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/socket"
        let listener = try listening(at: path)
        defer { close(listener) }
        let child = try ChildProcess(
            python: """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdin.read()
                """, path)
        let connection = accept(listener, nil, nil)
        defer { close(connection) }
        let peer = try PeerCredentials(socket: connection)
        #expect(peer.pid == child.pid && peer.pid != getpid())
        #expect(peer.uid == geteuid() && peer.gid == getegid())
        try child.end()
    }

    @Test func `a socket without a peer has no credentials`() throws {
        for family in [AF_UNIX, AF_INET] {
            let alone = socket(family, Self.stream, 0)
            defer { close(alone) }
            #expect(throws: SystemError(operation: "getsockopt SO_PEERCRED", errno: ENOTCONN)) {
                try PeerCredentials(socket: alone)
            }
        }
    }

    @Test func `what is no socket is refused`() throws {
        let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(throws: SystemError(operation: "getsockopt SO_PEERCRED", errno: ENOTSOCK)) {
            try PeerCredentials(socket: file)
        }
        #expect(throws: SystemError(operation: "getsockopt SO_PEERCRED", errno: EBADF)) {
            try PeerCredentials(socket: -1)
        }
    }

    private func listening(at path: String) throws -> CInt {
        let listener = socket(AF_UNIX, Self.stream, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 1) == 0)
        return listener
    }
}
