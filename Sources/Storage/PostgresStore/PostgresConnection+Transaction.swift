#if PostgreSQL
import Records
import TableRows

extension PostgresConnection {
    /// Runs a database transaction.
    ///
    /// If it fails, it is rolled back.
    func transaction<Result>(_ begin: String = "BEGIN", _ body: () throws -> Result) throws -> Result {
        do {
            _ = try rows(begin)
            let result = try body()
            _ = try rows("COMMIT")
            return result
        } catch {
            if !isBroken {
                _ = try? answers()
                _ = try? rows("ROLLBACK")
            }
            throw error
        }
    }

    /// The first column of each row, which is a text.
    func names(_ sql: String, _ values: StatementValues) throws -> [String] {
        try rows(sql, values).compactMap { row in if case .text(let name) = row.first { name } else { nil } }
    }

    /// The other hosts whose lease has not expired, by name.
    func runningHosts(besides host: HostName) throws -> [String] {
        try names(
            "SELECT name FROM host WHERE alive_until > clock_timestamp() AND name <> ? ORDER BY name", [host.text])
    }

    /// Revokes the right to write of all other hosts, in case one of them is frozen and wakes up later.
    func shutOutHosts(besides host: HostName) throws {
        // A negative number marks a host that was shut out: counted down, it never comes back to an earlier one.
        _ = try rows("UPDATE host SET incarnation = -abs(incarnation) - 1 WHERE name <> ?", [host.text])
    }
}
#endif
