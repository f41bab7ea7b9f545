#if PostgreSQL
import Authenticator
import Foundation
import PostgresRows
import StandingClocks
import StoreTables
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// A host's share of the work.
@Suite(.timeLimit(.minutes(5)))
struct PostgresSharesTests {
    @Test func `a database that goes away during the start is named as the store's error`() async throws {
        let cluster = try PostgresCluster.shared()
        let settings = try cluster.settings(ofDatabaseFor: "shares \(UUID().uuidString)")
        let host = PostgresHost(name: try #require(HostName("alpha")), identity: [1])
        let store = try PostgresStore(settings, host: host, seals: NoRowSeals())
        let rows = try settings.connection().rows("SELECT current_database()")
        guard case .text(let database)? = rows.first?.first else {
            Issue.record("the database has no name")
            return
        }
        _ = try cluster.settings(of: "postgres").connection().rows("DROP DATABASE \(database) WITH (FORCE)")
        await #expect(throws: StoreError.self) {
            try await PostgresShares(of: store, clock: StandingClock())
        }
    }
}
#endif
