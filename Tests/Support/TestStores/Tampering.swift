import Foundation
import GRDB
package import TableRows

#if PostgreSQL
import PostgresStore
#endif

/// Changes the database of a store as any other program can that may write to it.
///
/// - Parameter sql: statements with `;` between them, as SQLite has them.
package func tamper(at path: String, _ sql: String, _ values: StatementValues = []) throws {
    switch StoreKind.current {
    case .sqlite:
        try DatabaseQueue(path: path).write { database in
            let arguments = StatementArguments(values.values.map(\.databaseValue))
            try database.execute(sql: sql, arguments: arguments)
        }
    case .postgres:
        #if PostgreSQL
        let connection = try PostgresCluster.shared().settings(ofDatabaseFor: path).connection()
        for statement in sql.split(separator: ";") {
            let words = String(statement).replacing(/[xX]'([0-9A-Fa-f]*)'/) { "'\\x\($0.1)'::BYTEA" }
                .replacing(/zeroblob\(([0-9]+)\)/) { "decode(repeat('00', \($0.1)), 'hex')" }
            _ = try connection.rows(words, values.values)
        }
        #else
        throw MissingPostgresError()
        #endif
    }
}

/// The number that a query of the database of a store has; `nil` if it has none.
package func number(in path: String, _ sql: String) throws -> Int64? {
    switch StoreKind.current {
    case .sqlite:
        return try DatabaseQueue(path: path).read { try Int64.fetchOne($0, sql: sql) }
    case .postgres:
        #if PostgreSQL
        let connection = try PostgresCluster.shared().settings(ofDatabaseFor: path).connection()
        guard case .number(let number)? = try connection.rows(sql).first?.first else { return nil }
        return number
        #else
        throw MissingPostgresError()
        #endif
    }
}

#if PostgreSQL
/// The number of sessions that wait for a lock in the PostgreSQL database of a store.
package func lockWaits(at path: String) throws -> Int64 {
    let connection = try PostgresCluster.shared().settings(ofDatabaseFor: path).connection()
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    guard case .number(let count) = try connection.rows(sql).first?.first ?? .null else { return 0 }
    return count
}
#endif

extension ColumnValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .number(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): DatabaseValue(value: Data(bytes)) ?? .null
        }
    }
}
