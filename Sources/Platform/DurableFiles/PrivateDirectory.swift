import Glibc

/// Directories that only their user can change.
package enum PrivateDirectory {
    /// Makes the directory with mode 0700, and the missing directories above it.
    ///
    /// An existing directory must belong to this user, and no other user may have permission to write in it. A symbolic
    /// link to a directory is followed (systemd makes such links), and its target is checked.
    package static func make(at path: String) throws(FileError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        try makeMissing(path)
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if number < 0 && errno == ENOTDIR { throw FileError(path: path, reason: .notDirectory) }
        let directory = try Descriptor(takingOwnershipOf: number, path: path, operation: "open")
        try checkStatus(directory.status(), path: path)
    }

    /// Checks that ``make(at:)`` would accept the directory or could make it, without making it.
    package static func expectUsable(at path: String) throws(FileError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if number < 0 && errno == ENOTDIR { throw FileError(path: path, reason: .notDirectory) }
        if number < 0 && errno == ENOENT { return try checkMissing(path) }
        let directory = try Descriptor(takingOwnershipOf: number, path: path, operation: "open")
        try checkStatus(directory.status(), path: path)
        try checkAccess(path)
    }

    /// Checks the nearest directory above that exists.
    private static func checkMissing(_ path: String) throws(FileError) {
        var status = stat()
        // A dangling symbolic link is in the way of a directory.
        if unsafe lstat(path, &status) == 0 { throw FileError(path: path, reason: .notDirectory) }
        let above = parent(of: path) ?? "."
        guard unsafe stat(above, &status) == 0 else {
            guard errno == ENOENT else { throw .afterCall("stat", path: above) }
            return try checkMissing(above)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError(path: above, reason: .notDirectory) }
        try checkAccess(above)
    }

    private static func checkAccess(_ path: String) throws(FileError) {
        guard unsafe faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .afterCall("access", path: path)
        }
    }

    private static func makeMissing(_ path: String) throws(FileError) {
        if unsafe mkdir(path, 0o700) == 0 { return try synchronizeParent(of: path) }
        if errno == EEXIST { return }
        guard errno == ENOENT, let parent = parent(of: path) else { throw .afterCall("mkdir", path: path) }
        try makeMissing(parent)
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .afterCall("mkdir", path: path) }
        try synchronizeParent(of: path)
    }

    private static func synchronizeParent(of path: String) throws(FileError) {
        let parent = parent(of: path) ?? "."
        let number = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try Descriptor(takingOwnershipOf: number, path: parent, operation: "open").synchronize()
    }

    /// Returns the path before the last name, or `nil` for a single name and for the root.
    private static func parent(of path: String) -> String? {
        let parts = path.split(separator: "/")
        guard parts.count > 1 else { return path.hasPrefix("/") && !parts.isEmpty ? "/" : nil }
        return (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
    }

    private static func checkStatus(_ status: stat, path: String) throws(FileError) {
        guard status.st_uid == geteuid() else {
            throw FileError(path: path, reason: .wrongOwner(uid: status.st_uid))
        }
        guard status.st_mode & 0o022 == 0 else {
            throw FileError(path: path, reason: .tooPermissive(mode: status.st_mode & 0o7777, advised: "0700"))
        }
    }
}
