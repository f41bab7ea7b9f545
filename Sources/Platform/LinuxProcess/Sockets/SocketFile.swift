import CLinux
import Glibc

/// The file of a socket that this process listens on.
///
/// It is kept open, so that no other file gets its inode number.
package final class SocketFile: Sendable {
    private let number: CInt
    private let device: dev_t
    private let inode: ino_t
    private let group: gid_t

    /// Takes ownership of `number`, or returns `nil` if it is not a socket of this process's user.
    init?(takingOwnershipOf number: CInt) {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid()
        else {
            close(number)
            return nil
        }
        self.number = number
        (device, inode, group) = (status.st_dev, status.st_ino, status.st_gid)
    }

    deinit { close(number) }

    func isSame(_ status: stat) -> Bool { status.st_dev == device && status.st_ino == inode }

    func give(to group: UInt32?, _ couldNot: (_ part: String, _ errno: CInt) -> Void) {
        var mode: mode_t = 0o600
        if let group {
            // The process's own group needs no change, and a service may be forbidden to make one.
            if group == self.group || clinux_set_group(number, group) == 0 {
                mode = 0o660
            } else {
                couldNot("group", errno)
            }
        }
        // fchmod(2) does not accept an O_PATH descriptor. The link to it leads to this very file.
        if unsafe chmod("/proc/self/fd/\(number)", mode) != 0 { couldNot("mode", errno) }
    }
}
