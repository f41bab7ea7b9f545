import GRDB
import ScratchDirectories
import TableRows
import TestStores

@testable import Authenticator
@testable import Journal
@testable import Records

extension SampleAgent {
    var storeError: StoreError? { ports.storeHealth.trouble }

    /// Waits until someone has found that the store is in trouble.
    func storeFailed() async throws {
        let changes = ports.storeHealth.changes()
        if storeError != nil { return }
        for await _ in changes where storeError != nil { return }
        throw CancellationError()
    }

    /// Waits until someone has found that the store is in trouble, lets time pass, and ends the trouble as the watch does.
    ///
    /// If several may find it, the others do so at any time: see ``storeRecovered(while:)``.
    func storeRecovered(after seconds: Double = 0) async throws {
        try await storeFailed()
        clock.advance(by: seconds)
        store.breakWrites(false)
        store.breakReads(false)
        ports.storeHealth.noteWritten()
    }

    /// Ends the trouble once someone has found it, and as the watch does each that is noted while the body runs.
    ///
    /// What has failed before is noted when whoever tried comes to it, and that may be after the end of the trouble.
    func storeRecovered(while body: () async throws -> Void) async throws {
        let changes = ports.storeHealth.changes()
        try await storeRecovered()
        let watch = { @Sendable [ports] in
            for await _ in changes where ports.storeHealth.trouble != nil { ports.storeHealth.noteWritten() }
        }
        try await running([watch], while: body)
    }
}

extension SampleAgent {
    /// Changes the database as any other program can that may write its file.
    func tamper(_ sql: String, _ values: StatementValues = []) throws {
        try TestStores.tamper(at: "\(directory.path)/store.sqlite", sql, values)
    }

    /// A connection of somebody else to SQLite's file, which reads until it is closed.
    func reader() throws -> SQLiteReader { try SQLiteReader(path: "\(directory.path)/store.sqlite") }

    /// Keeps the row of an enrollment as it is, and gives what puts it back.
    func keptRow(of id: EnrollmentID) throws -> @Sendable () throws -> Void {
        let columns = """
            sign_count, state, authenticator_id, sealed_token, enrolled_at, end_reason, ended_at, pin_failures,
            pin_blocked_until, sealed_key, version, pin_epoch, seal, journal_seq, journal_host
            """
        let table = "kept_\(UInt64.random(in: 0...UInt64.max))"
        try tamper("CREATE TABLE \(table) AS SELECT \(columns) FROM enrollment WHERE id = '\(id.text)'")
        return { [self] in
            try tamper("UPDATE enrollment SET (\(columns)) = (SELECT \(columns) FROM \(table)) WHERE id = ?", [id.text])
        }
    }

    /// Makes a whole copy of the database, as it is.
    func copyStore(to path: String) throws {
        try DatabaseQueue(path: "\(directory.path)/store.sqlite").vacuum(into: path)
    }
}
