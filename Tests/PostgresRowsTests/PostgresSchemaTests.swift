#if PostgreSQL
import Authenticator
import Foundation
import PostgresRows
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// Changes of the tables while hosts of two versions run.
@Suite(.timeLimit(.minutes(5)))
struct PostgresSchemaTests {
    private let settings: PostgresSettings
    private let connection: PostgresConnection

    init() throws {
        settings = try PostgresCluster.shared().settings(ofDatabaseFor: "schema \(UUID().uuidString)")
        connection = try settings.connection()
    }

    /// What a version adds, and what the one after it removes.
    private static let added = SchemaChange(
        name: "2-added", worksFrom: "1-tables", statements: ["ALTER TABLE request ADD COLUMN added TEXT"])
    private static let removed = SchemaChange(
        name: "3-removed", worksFrom: "2-added", statements: ["ALTER TABLE request DROP COLUMN reason"])

    private func host(_ name: String) throws -> PostgresHost {
        PostgresHost(name: try #require(HostName(name)), identity: Array(name.utf8))
    }

    private func made() throws -> [String] {
        try connection.rows("SELECT change FROM oob_agent_schema ORDER BY change").compactMap { row in
            if case .text(let name) = row[0] { name } else { nil }
        }
    }

    @Test func `hosts that start at once on an empty database make its tables once`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...6 {
                let (settings, host) = (settings, try host("host-\(number)"))
                group.addTask { try PostgresSchema.bringUpToDate(settings.connection(), for: host.name) }
            }
            try await group.waitForAll()
        }
        #expect(try made() == PostgresSchema.changes.map(\.name))
        #expect(try connection.rows("SELECT count(*) FROM host_version") == [[.number(6)]])
    }

    @Test func `the version before starts beside what was only added`() throws {
        let (old, new) = (PostgresSchema.changes, PostgresSchema.changes + [Self.added])
        try PostgresSchema.bringUpToDate(connection, for: try host("alpha").name, by: old)
        _ = try host("alpha").claim(connection)
        try PostgresSchema.bringUpToDate(connection, for: try host("beta").name, by: new)
        #expect(try made() == ["1-tables", "2-added"])
        try PostgresSchema.bringUpToDate(connection, for: try host("alpha").name, by: old)
        #expect(try made() == ["1-tables", "2-added"])
    }

    @Test func `nothing is removed while a host lives that needs it`() throws {
        let all = PostgresSchema.changes + [Self.added, Self.removed]
        let (alpha, beta) = (try host("alpha"), try host("beta"))
        try PostgresSchema.bringUpToDate(connection, for: alpha.name)
        let incarnation = try alpha.claim(connection)
        let failure = #expect(throws: PostgresSchema.OlderHostError.self) {
            try PostgresSchema.bringUpToDate(connection, for: beta.name, by: all)
        }
        #expect(failure?.host == "alpha" && failure?.change == "3-removed")
        #expect(try made() == ["1-tables"])
        try alpha.letGo(connection, incarnation)
        try PostgresSchema.bringUpToDate(connection, for: beta.name, by: all)
        #expect(try made() == ["1-tables", "2-added", "3-removed"])
    }

    @Test func `nothing is removed while a host that needs it is about to start`() throws {
        try PostgresSchema.bringUpToDate(connection, for: try host("alpha").name)
        #expect(throws: PostgresSchema.OlderHostError.self) {
            let all = PostgresSchema.changes + [Self.added, Self.removed]
            try PostgresSchema.bringUpToDate(connection, for: try host("beta").name, by: all)
        }
    }

    @Test func `a version that knows what replaced something works on without that, and an older one does not`() throws
    {
        let middle = PostgresSchema.changes + [Self.added]
        try PostgresSchema.bringUpToDate(connection, for: try host("beta").name, by: middle + [Self.removed])
        try PostgresSchema.bringUpToDate(connection, for: try host("gamma").name, by: middle)
        let failure = #expect(throws: PostgresSchema.UnknownChangesError.self) {
            try PostgresSchema.bringUpToDate(connection, for: try host("alpha").name)
        }
        #expect(failure?.names == ["3-removed"])
    }
}
#endif
