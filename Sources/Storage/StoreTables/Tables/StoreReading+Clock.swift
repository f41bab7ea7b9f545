package import IssuerProtocol
package import Records
import TableRows

/// The columns of the test clock.
enum TestClockColumn: Int, TableColumn {
    static let table = TableLayout<Self>("test_clock", naming: .snakeCase)

    case one, offset
}

/// The columns of the proven time.
enum ProvenTimeColumn: Int, TableColumn {
    static let table = TableLayout<Self>("proven_time", naming: .snakeCase)

    case one, at, acceptances
}

extension StoreReading {
    /// Returns the seconds by which the test clock is ahead of the machine's clock.
    ///
    /// 0 if it was never advanced.
    package func clockOffset() throws -> Int64 {
        try database.row(of: TestClockColumn.table, "") { try $0.count(.offset) } ?? 0
    }

    /// The proven time, or `nil` before it is first stored.
    package func provenTime() throws -> ProvenMoment? {
        try database.row(of: ProvenTimeColumn.table, "") {
            ProvenMoment(at: try $0.time(.at), acceptances: try $0.count(.acceptances))
        }
    }

    /// Whether an enrollment at another issuer is active.
    package func hasActiveEnrollment(notOf issuer: IssuerURL) throws -> Bool {
        try database.number(
            "SELECT 1 FROM enrollment WHERE state = 'active' AND issuer <> ? LIMIT 1", [issuer.text]) != nil
    }
}

extension StoreTransaction {
    package func set(clockOffset offset: Int64) throws {
        try database.insert(
            into: TestClockColumn.table, [.one: 1, .offset: offset],
            onConflict: #"(one) DO UPDATE SET "offset" = excluded."offset""#)
    }

    /// Stores the proven time, unless a later one is stored.
    package func raise(_ provenTime: ProvenMoment) throws {
        try database.insert(
            into: ProvenTimeColumn.table, [.one: 1, .at: provenTime.at, .acceptances: provenTime.acceptances],
            onConflict: """
                (one) DO UPDATE SET at = excluded.at, acceptances = excluded.acceptances
                WHERE excluded.acceptances > proven_time.acceptances
                    OR (excluded.acceptances = proven_time.acceptances AND excluded.at > proven_time.at)
                """)
    }
}
