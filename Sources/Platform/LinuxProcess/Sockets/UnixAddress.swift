import Glibc

/// The address of a Unix socket (unix(7)).
package struct UnixAddress {
    package static let maxBytes = 107

    private var address = sockaddr_un()
    private let count: socklen_t

    /// - Parameter name: a path, or an abstract name with `@` in the place of its zero byte; at most ``maxBytes``.
    package init(_ name: [UInt8]) {
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.first == UInt8(ascii: "@")
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            unsafe room.copyBytes(from: isAbstract ? [0] + name.dropFirst() : name)
        }
        // A path ends with a zero byte. An abstract name ends at the address's length.
        count = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
    }

    /// Sends bytes, and returns the result of sendto(2).
    package func send(_ bytes: [UInt8], from file: CInt) -> Int {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(file, bytes, bytes.count, CInt(MSG_NOSIGNAL), address, count)
            }
        }
    }

    /// Returns the process that listens there, by SO_PEERCRED.
    ///
    /// It connects without waiting, asks the kernel, and disconnects.
    ///
    /// - Throws: the reason why no process accepts the connection. It is EAGAIN if the listener's queue is full.
    func listener() throws(SystemError) -> pid_t {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let file = socket(AF_UNIX, kind, 0)
        guard file >= 0 else { throw .afterCall("socket") }
        defer { close(file) }
        let answer = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(file, address, count)
            }
        }
        guard answer == 0 else { throw .afterCall("connect") }
        // `struct ucred`, which Glibc's module lacks: pid, uid and gid, 32 bits each.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(peer.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else {
            throw .afterCall("getsockopt SO_PEERCRED")
        }
        return pid_t(bitPattern: peer[0])
    }
}
