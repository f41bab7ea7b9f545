import GRDB
package import Records
package import StoreTables
import TableRows
package import Threads

/// The store in one SQLite file: WAL, `synchronous=FULL`, so what a write has acknowledged survives a power cut.
package struct SQLiteDatabase: Store {
    package let path: String
    let pool: DatabasePool
    private let sealing: Sealing
    private let surveyor: SQLiteSurveyor
    private let reserve: DiskReserve
    /// The threads for reads and writes.
    ///
    /// Work that already runs on them does not switch threads again.
    package let threads: OwnThreads

    /// The most threads that wait for the disk: one for a commit, two for reads, one for a survey, and one spare.
    private static let threadCount = 5

    /// The page cache of each connection, in KiB.
    ///
    /// It has room for the upper levels of the tables and for the last writes. The kernel caches the rest.
    private static let cacheSize = 512

    /// The `busy_timeout` of each connection, in seconds.
    private static let busyTimeout: Double = 5

    /// Opens the file, creates it and its tables if they are missing, and verifies that it is writable.
    ///
    /// The caller has set a umask that keeps other users out, and has the lock of the state directory.
    ///
    /// - Parameters:
    ///   - seals: the seals of the enrollments' rows. By default, every row is accepted.
    ///   - dataKeys: the seals of the keys that encrypt the personal data of enrollments.
    /// - Throws: `StoreError` if the file is unusable, or if its tables are not of this version. The file is then
    ///   unchanged.
    package init(
        path: String, scratch: Scratch = .memory, seals: any RowSeals = NoRowSeals(),
        dataKeys: any DataKeySeals
    ) throws {
        self.path = path
        let sealing = Sealing(seals: seals, dataKeys: dataKeys)
        self.sealing = sealing
        do {
            threads = try OwnThreads(limit: Self.threadCount)
        } catch {
            throw StoreError(.other, at: path, detail: "\(error)")
        }
        try DatabaseFiles.expectOwn(path)
        reserve = DiskReserve(of: path)
        reserve.giveUpIfNeededToStart()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Self.busyTimeout)
        configuration.maximumReaderCount = 2
        // The readers stay open when their memory is released.
        configuration.persistentReadOnlyConnections = true
        configuration.label = "store"
        configuration.prepareDatabase { database in
            try database.distrustFile()
            try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheSize); \(scratch.pragma)")
            // Before the writing connection changes anything, such as the file's journal mode.
            if !database.configuration.readonly { _ = try Self.isMade(in: database) }
        }
        surveyor = SQLiteSurveyor(path: path, configuration)
        pool = try Self.naming(path) { try DatabasePool(path: path, configuration: configuration) }
        try Self.naming(path) { [pool] in
            // After opening: GRDB sets NORMAL when it opens a WAL database, regardless of an earlier setting.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
            }
            try pool.write { database in
                guard try !Self.isMade(in: database) else { return }
                let statements = StoreSchema.statements(for: .sqlite)
                for statement in try statements + [StoreSchema.record(of: statements)] {
                    try database.execute(sql: statement)
                }
            }
            try pool.writeWithoutTransaction { database in
                try Self.checkDurability(of: database, at: path)
                // This commit also syncs what a process that was killed before its sync left in the log. Otherwise a
                // message could leave because of a decision that the next power cut still takes back.
                try DatabaseWrite(database: database, path: path, sealing: sealing).perform { try $0.touch() }
            }
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await threads.perform { try readNow(body) }
    }

    private func readNow<T>(_ body: (StoreReading) throws -> T) throws -> T {
        try Self.naming(path) {
            try pool.unsafeRead { database in
                try database.reading { try body(StoreReading(database: database, sealing: sealing)) }
            }
        }
    }

    /// Reads on a connection of its own.
    ///
    /// The pages of surveys run one after another.
    package func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await threads.perform {
            try Self.naming(path) {
                try surveyor.read { database in
                    try database.reading { try body(StoreReading(database: database, sealing: sealing)) }
                }
            }
        }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        // Not GRDB's `async` call, because cancelling the caller's task would interrupt it.
        try await threads.perform { try writeNow(body) }
    }

    private func writeNow<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        return try Self.naming(path) {
            try pool.writeWithoutTransaction { database in
                try DatabaseWrite(database: database, path: path, sealing: sealing).perform(body)
            }
        }
    }

    /// Rewrites the file, and truncates the log.
    ///
    /// `secure_delete` alone is not enough: if SQLite moves rows from one page to another, their old bytes stay in the
    /// unused space of the first page.
    package func scrub() async throws {
        let path = path
        try await Self.naming(path) {
            try await pool.vacuum()
            _ = try await pool.barrierWriteWithoutTransaction { database in
                // A scrub is due until the old bytes are gone.
                _ = try database.checkpoint(.truncate)
                try database.execute(sql: "DELETE FROM scrub_due")
                return try database.checkpoint(.truncate)
            }
        }
    }

    /// Copies the log into the file, overwriting old values there, and truncates the log.
    package func emptyLog() async throws -> Bool {
        try await threads.perform {
            try Self.naming(path) {
                // A reader keeps the log from being truncated. Wait for the store's own readers, which read little at a
                // time. Do not wait for a copy of the file, because decisions would wait for it too.
                try surveyor.pausing {
                    try pool.barrierWriteWithoutTransaction { database in
                        try database.notWaiting(otherwise: Self.busyTimeout) {
                            do {
                                _ = try database.checkpoint(.truncate)
                                return true
                            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                                return false
                            }
                        }
                    }
                }
            }
        }
    }

    package func giveUpReserve() async -> Bool {
        reserve.giveUp()
        // Another write may have found the disk full at the same time, so it is worth a second try as well.
        return true
    }

    package func keepReserve() async throws { try await threads.perform { [reserve] in try reserve.keep() } }

    /// Frees the page caches and the compiled statements, each connection's once it is idle.
    ///
    /// Does not wait for the connections: while it waited for a slow read, no other read could begin.
    package func releaseMemory() {
        pool.releaseMemoryEventually()
        surveyor.releaseMemory()
    }

    /// Waits for running reads and writes, and closes the files.
    ///
    /// No log remains beside the database. The store cannot be used afterwards.
    package func close() throws {
        try Self.naming(path) {
            try surveyor.close()
            try pool.close()
            // GRDB closes its readers last, and a read-only connection cannot remove the log. So a writable one is
            // closed after them.
            let last = try DatabaseQueue(path: path)
            _ = try last.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            try last.close()
        }
    }

    /// SQLite's `temp_store` of the writer and of a reader: 1 is a directory, 2 is memory.
    package func scratchPlaces() async throws -> [Int?] { try await both("PRAGMA temp_store") }

    /// SQLite's `cache_size` of the writer and of a reader.
    ///
    /// Negative values are KiB.
    package func cacheSizes() async throws -> [Int?] { try await both("PRAGMA cache_size") }

    private func both(_ sql: String) async throws -> [Int?] {
        [
            try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: sql) },
            try await pool.read { try Int.fetchOne($0, sql: sql) },
        ]
    }

    /// SQLite's `synchronous`: 2 is FULL.
    package func synchronousLevel() async throws -> Int? {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }

    /// SQLite's `secure_delete`: 1 overwrites all deleted content, 2 (FAST) only a part.
    package func secureDeletionLevel() async throws -> Int? {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA secure_delete") }
    }

    /// Verifies that a commit is on the disk when it returns.
    private static func checkDurability(of database: Database, at path: String) throws {
        let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
        let journal = try String.fetchOne(database, sql: "PRAGMA journal_mode")
        guard level == 2, journal == "wal" else {
            throw StoreError(
                .other, at: path,
                detail: "its commits would not be durable: synchronous is \(level ?? -1), journal_mode "
                    + "\(journal ?? "none")")
        }
    }

}

extension Database {
    /// Reads in one database transaction, so that all reads see the same snapshot.
    ///
    /// Like GRDB's `read`, but the statements around it are parsed once, and not each time.
    fileprivate func reading<T>(_ body: () throws -> T) throws -> T {
        try execute("BEGIN DEFERRED TRANSACTION")
        do {
            let result = try body()
            try execute("COMMIT TRANSACTION")
            return result
        } catch {
            // SQLite may have ended the database transaction already. Throw the first error.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }
}

extension SQLiteDatabase {
    /// Converts SQLite's errors to the agent's.
    static func naming<T>(_ path: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw named(error, path)
        }
    }

    package static func naming<T>(_ path: String, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            // A statement that was interrupted for a cancellation is not an error of the file.
            try Task.checkCancellation()
            throw named(error, path)
        }
    }

    private static func named(_ error: any Error, _ path: String) -> any Error {
        switch error {
        case let error as DatabaseError: StoreError(error, at: path) ?? error
        case let row as UnreadableRowError: StoreError(.corrupt, at: path, detail: "\(row)")
        case let journal as ForgedJournalError: StoreError(.forged, at: path, detail: "\(journal)")
        case let form as StoreFormError: StoreError(form, at: path)
        case let moved as StateMovedError: StoreError(.moved, at: path, detail: "moved to \(moved.place)")
        case is UnrestoredBackupError: StoreError(.backup, at: path)
        default: error
        }
    }
}

extension Database {
    /// Runs `body` without waiting for locks of other connections.
    ///
    /// Then restores a `busy_timeout` of `seconds`.
    fileprivate func notWaiting<Result>(otherwise seconds: Double, _ body: () throws -> Result) throws -> Result {
        try execute(sql: "PRAGMA busy_timeout = 0")
        defer { try? execute(sql: "PRAGMA busy_timeout = \(Int(seconds * 1_000))") }
        return try body()
    }
}
