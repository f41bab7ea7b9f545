import CLinux
import Glibc

/// Who is at the other end of a Unix socket, as the kernel noted it when the two were connected.
package struct PeerCredentials: Hashable, Sendable {
    /// 0 where the peer lives in a PID namespace that this process cannot see.
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    /// Asks the kernel about a connected Unix socket (unix(7), SO_PEERCRED).
    ///
    /// Throws for every other descriptor, also for sockets about which the kernel answers but knows nobody.
    package init(socket: CInt) throws(SystemError) {
        var (pid, uid, gid) = (pid_t(0), uid_t(0), gid_t(0))
        guard unsafe clinux_peer_credentials(socket, &pid, &uid, &gid) == 0 else {
            throw .afterCall("getsockopt SO_PEERCRED")
        }
        // The kernel's answer for a TCP socket, and for a Unix socket without a peer, is uid -1 and no error.
        guard uid != .max else { throw SystemError(operation: "getsockopt SO_PEERCRED", errno: ENOTCONN) }
        (self.pid, self.uid, self.gid) = (pid, uid, gid)
    }
}
