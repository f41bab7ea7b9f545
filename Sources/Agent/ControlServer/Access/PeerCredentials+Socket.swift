import Glibc

extension PeerCredentials {
    /// The most groups that a process has (NGROUPS_MAX of limits.h).
    private static let maxGroups = 65_536

    /// Reads `SO_PEERCRED` and `SO_PEERGROUPS` (unix(7)), the peer's credentials at the time of its connect.
    ///
    /// Returns `nil` if the kernel does not give them. The group database is not read: it has the groups of the user's
    /// next login, not those of this process.
    init?(of socket: CInt) {
        // `struct ucred`, which Glibc's module does not have: pid, uid and gid, 32 bits each.
        var ucred: [UInt32] = [0, 0, 0]
        var size = socklen_t(ucred.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &ucred, &size) == 0,
            let groups = Self.groups(of: socket)
        else { return nil }
        self.init(uid: ucred[1], gid: ucred[2], pid: pid_t(bitPattern: ucred[0]), supplementary: groups)
    }

    private static func groups(of socket: CInt) -> [UInt32]? {
        var groups = [gid_t](repeating: 0, count: 64)
        while true {
            var size = socklen_t(groups.count * MemoryLayout<gid_t>.size)
            if unsafe getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &size) == 0 {
                return Array(groups.prefix(Int(size) / MemoryLayout<gid_t>.size))
            }
            // If the groups do not fit, the kernel has returned the size that they need.
            let needed = Int(size) / MemoryLayout<gid_t>.size
            guard errno == ERANGE, needed > groups.count, needed <= maxGroups else { return nil }
            groups = [gid_t](repeating: 0, count: needed)
        }
    }
}
