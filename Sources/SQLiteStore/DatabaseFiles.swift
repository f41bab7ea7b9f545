import Authenticator
import Glibc

/// The database's files, as the system sees them.
enum DatabaseFiles {
    /// Sees that the files that are there are this user's, and can be written; SQLite would open them for reading alone.
    static func check(_ path: String) throws(StoreError) {
        for file in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard unsafe lstat(file, &status) == 0 else {
                guard errno == ENOENT || errno == ENOTDIR else { throw StoreError(systemError: errno, at: file) }
                continue
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StoreError(.notOurs, at: file, detail: "it is not a regular file")
            }
            guard status.st_uid == geteuid() else {
                throw StoreError(.notOurs, at: file, detail: "it belongs to uid \(status.st_uid)")
            }
            guard unsafe access(file, R_OK | W_OK) == 0 else { throw StoreError(systemError: errno, at: file) }
        }
    }

    /// Waits until what was written to a file, or to a directory's list, is on the disk.
    static func sync(_ path: String) throws(StoreError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw StoreError(systemError: errno, at: path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw StoreError(systemError: errno, at: path) }
    }
}
