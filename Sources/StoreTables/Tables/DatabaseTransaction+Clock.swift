import Authenticator
import TableRows

/// The columns of the clock of tests.
enum TestClockColumn: Int, TableColumn {
    static let table = TableLayout<Self>("test_clock", naming: .snakeCase)

    case one, offset
}

extension DatabaseTransaction {
    package func clockOffset() throws -> Int64 {
        try database.row(of: TestClockColumn.table, "") { try $0.count(.offset) } ?? 0
    }

    package func set(clockOffset offset: Int64) throws {
        try database.insert(
            into: TestClockColumn.table, [.one: 1, .offset: offset],
            onConflict: #"(one) DO UPDATE SET "offset" = excluded."offset""#)
    }
}
