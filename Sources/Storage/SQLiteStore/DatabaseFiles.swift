import Glibc
import Records

/// Checks of the database's files outside SQLite.
enum DatabaseFiles {
    /// Verifies that the existing files belong to this user and are writable.
    ///
    /// Else SQLite would open them read-only.
    static func expectOwn(_ path: String) throws(StoreError) {
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

    /// The size of the database and its write-ahead log, in bytes.
    ///
    /// Does not open the files: closing a descriptor of the database would release all POSIX locks that SQLite has on
    /// it in this process.
    static func size(_ path: String) -> Int64 {
        [path, path + "-wal"].reduce(0) { sum, file in
            var status = stat()
            return unsafe lstat(file, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }
}
