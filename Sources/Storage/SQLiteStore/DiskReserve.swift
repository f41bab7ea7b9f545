import Glibc
import LinuxProcess
import Records

/// A file beside the database that reserves disk space.
///
/// It is removed once the disk is full.
struct DiskReserve: Sendable {
    private let database: String
    private var path: String { database + Self.suffix }

    /// The suffix of its name, after the database's.
    static let suffix = "-reserve"

    /// The largest size, in bytes.
    ///
    /// It has space for 300 decisions and their deliveries, of 12 pages each, until the log is overwritten.
    private static let largest: Int64 = 16 << 20
    /// The largest share of the disk, as a divisor.
    private static let parts: Int64 = 16
    private static let pageSize: Int64 = 4096

    init(of database: String) { self.database = database }

    /// The size of the reserve on a disk of `total` bytes.
    static func size(onDiskOf total: Int64) -> Int64 { min(largest, total / parts) / pageSize * pageSize }

    /// Creates the file, unless it exists.
    ///
    /// If the file system cannot preallocate space, there is no reserve.
    ///
    /// - Throws: `StoreError` of kind `full` if less than twice the size is free.
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

    /// Removes the file if a start would lack space for its commit and for the files that SQLite creates.
    func giveUpIfNeededToStart() {
        let kept = kept
        guard kept > 0, let room = try? DiskRoom(of: directory), room.free < kept / 4 else { return }
        giveUp()
    }

    /// The allocated size, in bytes.
    ///
    /// 0 if the file does not exist.
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
