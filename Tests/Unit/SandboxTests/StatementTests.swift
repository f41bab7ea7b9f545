import GRDB
import GRDBSQLite
import Keys
import Testing

@testable import Sandbox

/// What the sandbox asks its database, again and again.
struct StatementTests {
    private let store: SandboxStore

    init() throws { store = try SandboxStore(path: nil, dependencies: .system) }

    @Test func `a statement is compiled once, whatever is read and written in between`() async throws {
        let sql = "SELECT value FROM fact WHERE name = 'epoch'"
        for _ in 1...3 {
            let (epoch, recompilations) = try await store.read { db in
                let statement = try db.cachedStatement(sql: sql)
                let epoch = try String.fetchOne(statement)
                let status = unsafe sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
                return (epoch, status)
            }
            #expect(epoch == store.epoch)
            #expect(recompilations == 0)
            try await store.queue.write { try $0.execute(sql: "UPDATE fact SET value = value") }
        }
    }

    @Test func `a public key is read once, and what is none is refused`() throws {
        let bytes = try SigningKey.generate(.es256).publicKey.subjectPublicKeyInfo
        #expect(try store.publicKeys.key(bytes) === store.publicKeys.key(bytes))
        #expect(try store.publicKeys.key(bytes).subjectPublicKeyInfo == bytes)
        #expect(throws: KeyError.self) { try store.publicKeys.key(Array(bytes.dropLast())) }
    }
}
