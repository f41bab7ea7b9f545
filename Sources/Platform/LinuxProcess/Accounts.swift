import Glibc

/// Users and groups of this host, by name or by number.
package enum Accounts {
    /// The most bytes of an entry: a group's entry has the names of all its members.
    private static let maxBytes = 1_048_576

    /// Reads a user or group id, except UInt32.max, which chown(2) reads as "do not change".
    private static func number(_ text: String) -> UInt32? { UInt32(text).flatMap { $0 == .max ? nil : $0 } }

    /// - Returns: `nil` if no user has this name, and it is not a number.
    package static func user(_ name: String) -> UInt32? {
        var entry = unsafe passwd()
        let isThere = unsafe find { bytes, found in
            unsafe getpwnam_r(name, &entry, &bytes, bytes.count, &found)
        }
        return unsafe isThere ? entry.pw_uid : number(name)
    }

    /// - Returns: `nil` if no group has this name, and it is not a number.
    package static func group(_ name: String) -> UInt32? {
        var entry = unsafe Glibc.group()
        let isThere = unsafe find { bytes, found in
            unsafe getgrnam_r(name, &entry, &bytes, bytes.count, &found)
        }
        return unsafe isThere ? entry.gr_gid : number(name)
    }

    /// Calls `look` with more memory until the entry fits.
    ///
    /// The functions that use static memory are not for a process with threads (attributes(7)), and a reload has them.
    private static func find<Entry>(
        _ look: (_ bytes: inout [CChar], _ found: inout UnsafeMutablePointer<Entry>?) -> CInt
    ) -> Bool {
        var room = 1_024
        while room <= maxBytes {
            var bytes = [CChar](repeating: 0, count: room)
            var found: UnsafeMutablePointer<Entry>?
            let status = unsafe look(&bytes, &found)
            guard status == ERANGE else { return unsafe found != nil }
            room *= 4
        }
        return false
    }

    /// Whether chown(2) is allowed at all: our units forbid it with a system call filter.
    package static var mayChangeGroups: Bool { fchown(-1, .max, .max) == 0 || errno != EPERM }

    /// The groups of this process.
    package static var ownGroups: [UInt32] {
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = unsafe getgroups(CInt(groups.count), &groups)
        return groups.prefix(Int(max(count, 0))) + [getegid()]
    }
}
