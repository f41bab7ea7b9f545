#if PostgreSQL
import Records
import Foundation
import StoreTables
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// The tables of a database that several hosts have.
@Suite(.timeLimit(.minutes(20)))
struct PostgresSchemaTests {
    private let settings: PostgresSettings
    private let connection: PostgresConnection

    init() throws {
        settings = try PostgresCluster.shared().settings(ofDatabaseFor: "schema \(UUID().uuidString)")
        connection = try settings.connection()
    }

    private func prepare(_ host: String) throws {
        try PostgresSchema.prepare(settings.connection(), for: #require(HostName(host)))
    }

    private func tables() throws -> [[ColumnValue]] {
        try connection.rows(
            "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relnamespace = to_regnamespace('public') ORDER BY relname"
        )
    }

    @Test func `hosts that start at once on an empty database make its tables once`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...6 {
                let (settings, host) = (settings, try #require(HostName("host-\(number)")))
                group.addTask { try PostgresSchema.prepare(settings.connection(), for: host) }
            }
            try await group.waitForAll()
        }
        #expect(try connection.rows("SELECT form, least_form FROM oob_agent_store") == [[.number(1), .number(1)]])
        #expect(try connection.rows("SELECT count(*) FROM host_version WHERE form = 1") == [[.number(6)]])
    }

    @Test func `a later form that only adds is worked on`() throws {
        try prepare("alpha")
        _ = try connection.rows("ALTER TABLE request ADD COLUMN colour TEXT")
        _ = try connection.rows("UPDATE oob_agent_store SET form = 2, least_form = 1")
        try prepare("alpha")
    }

    @Test(arguments: [
        ("UPDATE oob_agent_store SET form = 3, least_form = 2", StoreFormError.newer(form: 3)),
        ("DROP TABLE oob_agent_store", .unknown(table: "audit_key")),
        ("DELETE FROM oob_agent_store", .unknown(table: "oob_agent_store")),
        ("UPDATE oob_agent_store SET digest = 'x'", .unreleased),
    ])
    func `a database of another form is refused, and left as it is`(change: String, failure: StoreFormError) throws {
        try prepare("alpha")
        _ = try connection.rows(change)
        let before = try tables()
        #expect(throws: failure) { try prepare("beta") }
        #expect(try tables() == before)
        #expect(try connection.rows("SELECT host FROM host_version") == [[.text("alpha")]])
    }
}
#endif
