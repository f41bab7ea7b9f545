import Foundation
package import Records
import SQLiteStore
package import StoreTables
package import Testing

#if PostgreSQL
import PostgresStore
#endif

/// In which database the tests of a run have their stores.
package enum StoreKind: String, Sendable {
    case sqlite
    case postgres

    /// As `OOB_TEST_STORE` says, unless a test says something else; SQLite if neither does.
    @TaskLocal package static var current = ofRun

    private static let ofRun =
        ProcessInfo.processInfo.environment["OOB_TEST_STORE"].flatMap(StoreKind.init) ?? .sqlite
}

/// Opens the store that belongs to a path, which is made if there is none.
///
/// - Parameters:
///   - path: of a file; in PostgreSQL, a database that only this path has.
///   - dataKeys: who seals the data keys of enrollments.
///   - host: the name of the host, in PostgreSQL.
package func openStore(
    at path: String, seals: any RowSeals = NoRowSeals(), dataKeys: any DataKeySeals = UnsealedDataKeys(),
    host: String = "alpha"
) throws -> any Store {
    switch StoreKind.current {
    case .sqlite: return try SQLiteDatabase(path: path, seals: seals, dataKeys: dataKeys)
    case .postgres:
        #if PostgreSQL
        let settings = try PostgresCluster.shared().settings(ofDatabaseFor: path)
        guard let name = HostName(host) else { throw MissingPostgresError() }
        return try PostgresStore(
            settings, host: PostgresHost(name: name, identity: Array(host.utf8)), seals: seals, dataKeys: dataKeys)
        #else
        throw MissingPostgresError()
        #endif
    }
}

/// The tests were built without PostgreSQL.
package struct MissingPostgresError: Error {}

extension Trait where Self == ConditionTrait {
    /// About what only SQLite's file has.
    package static var ofSQLite: ConditionTrait { .enabled(if: StoreKind.current == .sqlite, "about SQLite's file") }
}
