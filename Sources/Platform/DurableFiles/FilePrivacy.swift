import Glibc

/// The users that may read or write a file.
package enum FilePrivacy: Sendable {
    /// Of this user or root, without any permission for group and others, and not reached by a symbolic link.
    case ownerOnly
    /// The file is a credential as systemd hands it over.
    ///
    /// As `ownerOnly`, but a file of root's may have the group's read bit (there it is the mask of the ACL that names
    /// the service's user), and the path may be a symbolic link.
    case credential
    /// Nothing is secret: anyone may read it, and its owner alone may write it. The path may be a symbolic link.
    case published

    var openFlags: CInt {
        switch self {
        case .ownerOnly: O_NOFOLLOW
        case .credential, .published: 0
        }
    }

    func check(_ status: stat, path: String, maxBytes: Int) throws(FileError) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(path: path, reason: .notRegularFile) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw FileError(path: path, reason: .wrongOwner(uid: status.st_uid))
        }
        guard status.st_mode & forbiddenBits(owner: status.st_uid) == 0 else {
            let advised = self == .published ? "0644" : "0600"
            throw FileError(path: path, reason: .tooPermissive(mode: status.st_mode & 0o7777, advised: advised))
        }
        guard status.st_size <= maxBytes else {
            throw FileError(path: path, reason: .tooLarge(maxBytes: maxBytes))
        }
    }

    /// The bits of its mode that a file of that owner must not have.
    func forbiddenBits(owner: uid_t) -> mode_t {
        switch self {
        case .ownerOnly: 0o077
        case .credential: owner == 0 ? 0o037 : 0o077
        case .published: 0o022
        }
    }
}
