import Glibc

/// The users that may read or write a file.
package enum FilePrivacy: Sendable {
    /// The owner is this user or root, group and others have no permission, and no symbolic link is followed.
    case ownerOnly
    /// The file is a credential that systemd provides.
    ///
    /// As `ownerOnly`, with two exceptions. A file of root may have the group's read bit, which there is the mask of
    /// the ACL that names the service's user. The path may be a symbolic link.
    case credential
    /// A file without secrets, which all users may read and only its owner may write.
    ///
    /// The path may be a symbolic link.
    case published

    var openFlags: CInt {
        switch self {
        case .ownerOnly: O_NOFOLLOW
        case .credential, .published: 0
        }
    }

    func expectPrivate(_ status: stat, path: String, maxBytes: Int) throws(FileError) {
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

    /// Returns the mode bits that a file of this owner must not have.
    func forbiddenBits(owner: uid_t) -> mode_t {
        switch self {
        case .ownerOnly: 0o077
        case .credential: owner == 0 ? 0o037 : 0o077
        case .published: 0o022
        }
    }
}
