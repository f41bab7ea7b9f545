import Glibc

/// Whose group a file is of, and what its mode lets that group do.
package struct FileGroup: Sendable {
    package let id: UInt32
    private let mode: mode_t

    /// Nil where nothing can be seen at the path; a symbolic link in its last place is not followed.
    package init?(of path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        id = status.st_gid
        mode = status.st_mode
    }

    /// Whether a directory lets members of a group through; its owner's rights do not count.
    package func letsThrough(_ group: UInt32) -> Bool { mode & (group == id ? 0o010 : 0o001) != 0 }
}
