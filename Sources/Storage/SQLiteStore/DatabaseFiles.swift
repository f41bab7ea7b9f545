import Glibc
import Records

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

    /// The bytes of the database and its log.
    ///
    /// Neither is opened: to close the database's file would drop the locks that this process has on it through SQLite.
    static func size(_ path: String) -> Int64 {
        [path, path + "-wal"].reduce(0) { sum, file in
            var status = stat()
            return unsafe lstat(file, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }
}
