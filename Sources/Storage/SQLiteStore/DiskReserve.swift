import Glibc
import LinuxProcess
import Records

/// A file beside the database that keeps room on its disk, and is removed once the disk is full.
struct DiskReserve: Sendable {
    private let database: String
    private var path: String { database + Self.suffix }

    /// The end of its name, after the database's.
    static let suffix = "-reserve"

    /// The most bytes of it: room for 300 decisions and their deliveries, of 12 pages each, before the log is written over.
    private static let largest: Int64 = 16 << 20
    /// The most of the disk of it, as one in so many parts.
    private static let parts: Int64 = 16
    private static let pageSize: Int64 = 4096

    init(of database: String) { self.database = database }

    /// The bytes that it has on a disk of that size.
    static func size(onDiskOf total: Int64) -> Int64 { min(largest, total / parts) / pageSize * pageSize }

    /// Makes it, unless it is there.
    ///
    /// A file system that cannot set room aside goes without.
    ///
    /// - Throws: `StoreError` of kind `full` if there is not room for it and as much again.
    func keep() throws(StoreError) {
        guard let room = try? DiskRoom(of: directory) else { return }
        let size = Self.size(onDiskOf: room.total)
        guard size > 0, kept < size else { return }
        guard room.free >= 2 * size else { throw StoreError(.full, at: database) }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let failure = posix_fallocate(file, 0, off_t(size))
        close(file)
        guard failure == ENOSPC || failure == EDQUOT else { return }
        giveUp()
        throw StoreError(systemError: failure, at: database)
    }

    func giveUp() { _ = unsafe unlink(path) }

    /// Gives it up if a start would find no room for its commit and the files that SQLite makes.
    func giveUpIfNeededToStart() {
        let kept = kept
        guard kept > 0, let room = try? DiskRoom(of: directory), room.free < kept / 4 else { return }
        giveUp()
    }

    /// The bytes that it has on the disk; 0 if it is not there.
    private var kept: Int64 {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
        return min(Int64(status.st_size), Int64(status.st_blocks) * 512)
    }

    private var directory: String {
        guard let end = database.lastIndex(of: "/") else { return "." }
        return end > database.startIndex ? String(database[..<end]) : "/"
    }
}
