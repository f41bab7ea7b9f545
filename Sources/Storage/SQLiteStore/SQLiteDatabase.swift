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
    /// Where it is read and written.
    ///
    /// What runs there already changes no thread for that.
    package let threads: OwnThreads

    /// How many wait for the disk at most: one for a commit, two for rows, one for a survey, and one is left.
    private static let threadCount = 5

    /// The most that each connection keeps of the file in memory, in KiB.
    ///
    /// The upper levels of the tables have room in it, and what was written last; the kernel has the rest.
    private static let cacheSize = 512

    /// The seconds for which a connection waits for another one's lock.
    private static let busyTimeout: Double = 5

    /// Opens the file, makes it and its tables if they are not there, and sees that it can be written.
    ///
    /// The caller has set a umask that keeps others out, and holds the lock of the state directory.
    ///
    /// - Parameters:
    ///   - seals: who vouches for the rows of enrollments; by default everyone.
    ///   - dataKeys: who seals the keys under which the personal data of enrollments is encrypted.
    /// - Throws: `StoreError` if the file is not usable, or its tables are not of this version; it is left as it is then.
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
        try DatabaseFiles.check(path)
        reserve = DiskReserve(of: path)
        reserve.giveUpIfNeededToStart()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Self.busyTimeout)
        configuration.maximumReaderCount = 2
        // They stay open also when their memory is released.
        configuration.persistentReadOnlyConnections = true
        configuration.label = "store"
        configuration.prepareDatabase { database in
            try database.distrustFile()
            try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheSize); \(scratch.pragma)")
            // Before the connection that writes changes anything, such as the file's journal mode.
            if !database.configuration.readonly { _ = try Self.isMade(in: database) }
        }
        surveyor = SQLiteSurveyor(path: path, configuration)
        pool = try Self.naming(path) { try DatabasePool(path: path, configuration: configuration) }
        try Self.naming(path) { [pool] in
            // GRDB sets NORMAL when it opens a WAL database, whatever was asked for before: so after it.
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
                // This commit also brings to the disk what a process that was killed before its sync left in the
                // log: nothing may leave because of a decision that the next power cut could still take back.
                try DatabaseWrite(database: database, path: path, sealing: sealing).run { try $0.touch() }
            }
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await threads.run { try readNow(body) }
    }

    private func readNow<T>(_ body: (StoreReading) throws -> T) throws -> T {
        try Self.naming(path) {
            try pool.unsafeRead { database in
                try database.reading { try body(StoreReading(database: database, sealing: sealing)) }
            }
        }
    }

    /// Reads on a connection of its own, one survey's page after the other.
    package func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await threads.run {
            try Self.naming(path) {
                try surveyor.read { database in
                    try database.reading { try body(StoreReading(database: database, sealing: sealing)) }
                }
            }
        }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        // Not GRDB's own `async` call, which is cut off with its caller's task.
        try await threads.run { try writeNow(body) }
    }

    private func writeNow<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        return try Self.naming(path) {
            try pool.writeWithoutTransaction { database in
                try DatabaseWrite(database: database, path: path, sealing: sealing).run(body)
            }
        }
    }

    /// Rewrites the file, and empties the log.
    ///
    /// `secure_delete` alone is not enough: if SQLite moves rows from one page to another, their old bytes stay in
    /// the first page's unused space.
    package func scrub() async throws {
        let path = path
        try await Self.naming(path) {
            try await pool.vacuum()
            _ = try await pool.barrierWriteWithoutTransaction { database in
                // It is due until the old bytes are gone.
                _ = try database.checkpoint(.truncate)
                try database.execute(sql: "DELETE FROM scrub_due")
                return try database.checkpoint(.truncate)
            }
        }
    }

    /// Brings the log into the file, over what it writes over there, and empties it.
    package func emptyLog() async throws -> Bool {
        try await threads.run {
            try Self.naming(path) {
                // Whoever reads keeps the log as it is: the store's own readers are waited for, as they read little at a
                // time. A copy of the file is not: decisions would wait for it too.
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
        // Another write may have found the disk full at the same time: it is worth a second try as well.
        return true
    }

    package func keepReserve() async throws { try await threads.run { [reserve] in try reserve.keep() } }

    /// Frees the pages of the file and the compiled statements that the connections keep, soon after this returns: each
    /// connection once it has nothing to do.
    ///
    /// It waits for none of them, as no read could begin behind one that takes long.
    package func releaseMemory() {
        pool.releaseMemoryEventually()
        surveyor.releaseMemory()
    }

    /// Waits for what is read and written, and closes the files, which leaves no log beside the database.
    ///
    /// Nothing can be read or written any more.
    package func close() throws {
        try Self.naming(path) {
            try surveyor.close()
            try pool.close()
            // GRDB closes its readers last, which may not remove the log: whoever closes it after them does.
            let last = try DatabaseQueue(path: path)
            _ = try last.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            try last.close()
        }
    }

    /// SQLite's own word for where temporary files are, of the writer and of a reader: 1 is a directory, 2 is memory.
    package func scratchPlaces() async throws -> [Int?] { try await both("PRAGMA temp_store") }

    /// SQLite's own word for how much of the file is kept, of the writer and of a reader: less than 0 are KiB.
    package func cacheSizes() async throws -> [Int?] { try await both("PRAGMA cache_size") }

    private func both(_ sql: String) async throws -> [Int?] {
        [
            try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: sql) },
            try await pool.read { try Int.fetchOne($0, sql: sql) },
        ]
    }

    /// SQLite's own word for how durable a commit is: 2 is FULL.
    package func synchronousLevel() async throws -> Int? {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }

    /// SQLite's own word for what it does with what it deletes: 1 is that all of it is overwritten, 2 (FAST) not all.
    package func secureDeletionLevel() async throws -> Int? {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA secure_delete") }
    }

    /// Sees that a commit is on the disk when it returns.
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
    /// Reads in one database transaction, so that all that is read is of the same moment.
    ///
    /// As GRDB's `read` does, except that the statements around it are parsed once and not each time.
    fileprivate func reading<T>(_ body: () throws -> T) throws -> T {
        try run("BEGIN DEFERRED TRANSACTION")
        do {
            let result = try body()
            try run("COMMIT TRANSACTION")
            return result
        } catch {
            // SQLite may have ended it already. What went wrong first is what is told.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }
}

extension SQLiteDatabase {
    /// Makes the agent's words of SQLite's.
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
            // A statement that was cut off for a cancellation is no trouble of the file's.
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
    /// Runs `body` without waiting for another connection's lock, for which it waits so many seconds otherwise.
    fileprivate func notWaiting<Result>(otherwise seconds: Double, _ body: () throws -> Result) throws -> Result {
        try execute(sql: "PRAGMA busy_timeout = 0")
        defer { try? execute(sql: "PRAGMA busy_timeout = \(Int(seconds * 1_000))") }
        return try body()
    }
}
