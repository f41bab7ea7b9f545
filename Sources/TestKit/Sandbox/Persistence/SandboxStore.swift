import GRDB
import TextAndTime

/// The sandbox's database: in memory, or one SQLite file.
package struct SandboxStore: Sendable {
    /// An error while the database was opened.
    package struct OpeningError: Error, CustomStringConvertible {
        package let description: String
    }

    let queue: DatabaseQueue
    let publicKeys = KnownPublicKeys()
    /// The database's random ID in each cursor, by which a cursor of another database is recognized.
    let epoch: String
    /// Seconds by which the test clock was ahead when the database was opened, or `nil` for the system's clock.
    let clockOffset: Int64?

    /// Opens the database; without a path it is in memory and lost at exit.
    ///
    /// Without a test clock, throws if the stored clock offset is not 0. With a test clock, throws if the database has
    /// authenticators that have not ended and are of another authnType than `test`.
    package init(path: String?, dependencies: SandboxDependencies, hasTestClock: Bool = false) throws {
        do {
            queue = try path.map(Self.openFile) ?? DatabaseQueue()
            guard try !queue.read(Schema.migrator.hasBeenSuperseded) else {
                throw OpeningError(description: "another version of oob-issuer made it; take another database")
            }
            try Schema.migrator.migrate(queue)
        } catch {
            throw OpeningError(description: "the database \(path ?? "in memory") cannot be opened: \(error)")
        }
        let fresh = try dependencies.randomID()
        epoch = try queue.write { db in
            try db.execute(sql: "INSERT INTO fact VALUES ('epoch', ?) ON CONFLICT DO NOTHING", arguments: [fresh])
            return try String.fetchOne(db, sql: "SELECT value FROM fact WHERE name = 'epoch'") ?? fresh
        }
        let offset = try queue.read(ClockOffset.stored)
        guard hasTestClock || offset == 0 else { throw Self.ahead(path ?? "in memory", by: offset) }
        if hasTestClock, let other = try queue.read(Self.firstThatIsNoTest) {
            throw Self.notForTests(path ?? "in memory", because: other)
        }
        clockOffset = hasTestClock ? offset : nil
    }

    /// Runs reads; this process writes nothing until they end.
    ///
    /// GRDB's own `read` makes SQLite refuse writes meanwhile (`PRAGMA query_only`). Each change of that setting makes
    /// SQLite compile all statements again. There is one connection, and one access to it at a time.
    func read<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
        try await queue.unsafeRead(body)
    }

    /// Returns the first authenticator that has not ended and whose authnType is not `test`.
    private static func firstThatIsNoTest(_ db: Database) throws -> String? {
        try String.fetchOne(
            db, sql: "SELECT id FROM authenticator WHERE authnType <> 'test' AND endedAt IS NULL ORDER BY seq LIMIT 1")
    }

    private static func notForTests(_ path: String, because authenticator: String) -> OpeningError {
        OpeningError(
            description: """
                the database \(path) takes no --test-clock: its authenticator \(authenticator) is not of authnType test; \
                revoke it (oob-issuer revoke), or take another database
                """)
    }

    private static func ahead(_ path: String, by offset: Int64) -> OpeningError {
        OpeningError(
            description: """
                the database \(path) was served with --test-clock, and its clock is \(ClockAdvance.text(offset)) ahead: \
                serve it with --test-clock again, or times in it would run backwards, or take another database
                """)
    }

    private static func openFile(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // Set after opening: GRDB's own set-up of WAL would reset it to NORMAL.
        let level = try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            return try Int.fetchOne(db, sql: "PRAGMA synchronous")
        }
        guard level == 2 else { throw OpeningError(description: "synchronous is \(level ?? -1) and not FULL") }
        return queue
    }
}
