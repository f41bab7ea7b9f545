#if PostgreSQL
import Records
import TableRows

extension PostgresConnection {
    /// Runs a database transaction; if it fails, nothing of it was done.
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

    /// The other hosts whose lease is not over, by name.
    func runningHosts(besides host: HostName) throws -> [String] {
        try names(
            "SELECT name FROM host WHERE alive_until > clock_timestamp() AND name <> ? ORDER BY name", [host.text])
    }

    /// From now on a host that was frozen, and wakes later, writes nothing.
    func shutOutHosts(besides host: HostName) throws {
        _ = try rows("UPDATE host SET incarnation = incarnation + 1 WHERE name <> ?", [host.text])
    }
}
#endif
