import Authenticator
import FoundationEssentials
import GRDB
import Glibc

/// The database as it was before an upgrade changed its schema, as a file beside it: the way back.
enum MigrationBackup {
    /// How many are kept, the newest.
    static let limit = 2

    static func path(of database: String, before migration: String) -> String { "\(database).before-\(migration)" }

    /// Copies all of the database; the copy is durable when this returns.
    static func make(of pool: DatabasePool, at database: String, before migration: String) throws {
        let path = path(of: database, before: migration)
        let partial = path + ".partial"
        try removeIfThere(partial)
        // SQLite takes an empty file as it is, so that it has this mode from the first byte on.
        let file = unsafe open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreError(systemError: errno, at: partial) }
        close(file)
        try SQLiteDatabase.naming(partial) { try pool.vacuum(into: partial) }
        try DatabaseFiles.sync(partial)
        guard unsafe rename(partial, path) == 0 else { throw StoreError(systemError: errno, at: path) }
        try DatabaseFiles.sync(directory(of: database))
        try removeOld(of: database)
    }

    /// Removes all that there are: they hold what the database no longer does.
    static func removeAll(of database: String) throws {
        for path in try all(of: database) { try removeIfThere(path) }
        try DatabaseFiles.sync(directory(of: database))
    }

    private static func removeOld(of database: String) throws {
        let backups = try all(of: database).filter { !$0.hasSuffix(".partial") }
            .map { (age(of: $0), $0) }
            .sorted { $0.0 > $1.0 }
        for (_, path) in backups.dropFirst(limit) { try removeIfThere(path) }
    }

    private static func all(of database: String) throws -> [String] {
        let directory = directory(of: database)
        let prefix = database.split(separator: "/").last.map { "\($0).before-" } ?? ""
        return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix(prefix) }
            .map { directory + $0 }
    }

    /// When it was written, in nanoseconds.
    private static func age(of path: String) -> Int {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return 0 }
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    private static func removeIfThere(_ path: String) throws(StoreError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw StoreError(systemError: errno, at: path) }
    }

    private static func directory(of path: String) -> String {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return names.isEmpty ? "./" : names.joined(separator: "/") + "/"
    }
}
