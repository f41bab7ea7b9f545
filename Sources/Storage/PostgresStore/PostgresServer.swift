#if PostgreSQL
import TableRows

/// The requirements that a server must meet for durable commits.
enum PostgresServer {
    /// The reason why a database cannot be the store, as a clause, with advice.
    struct UnfitError: Error {
        let reason: String
    }

    /// - Throws: ``UnfitError``, ``ClocksApartError``.
    static func expectFit(_ connection: PostgresConnection, _ clocks: ClockGuard) throws {
        let begun = clocks.reading()
        let rows = try connection.rows(
            """
            SELECT current_setting('server_version_num')::BIGINT, current_setting('server_encoding'),
                pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'),
                current_setting('synchronous_commit'), current_setting('transaction_read_only'), \(clock),
                current_setting('\(PostgresLimits.probe.name)')
            """)
        guard let row = rows.first, row.count == 9, case .number(let now) = row[7], case .number(let version) = row[0]
        else {
            throw UnfitError(reason: "it does not say its version")
        }
        guard version >= PostgresSchema.oldestServer else {
            throw UnfitError(
                reason:
                    "its server is PostgreSQL \(version / 10_000); \(PostgresSchema.oldestServer / 10_000) or later is needed"
            )
        }
        guard row[1] == .text("UTF8") else {
            throw UnfitError(reason: "its encoding is not UTF8: create it with ENCODING 'UTF8'")
        }
        guard row[2] == .number(0) else {
            throw UnfitError(reason: "its server is a standby: name the primary, or all hosts of the cluster")
        }
        guard row[6] == .text("off") else {
            throw UnfitError(reason: "it is read-only (default_transaction_read_only is on)")
        }
        // With synchronous_commit at `local`, a commit does not wait for a synchronous standby.
        let lossy = [
            (3, "fsync", ["off"]), (4, "full_page_writes", ["off"]), (5, "synchronous_commit", ["off", "local"]),
        ]
        for (place, name, values) in lossy {
            guard let value = values.first(where: { row[place] == .text($0) }) else { continue }
            throw UnfitError(
                reason: "\(name) is \(value) there, so a decision that was acknowledged could be lost: set it to on")
        }
        guard connection.isPooled || row[8] == .text(PostgresLimits.probe.shown) else {
            throw UnfitError(
                reason:
                    "what is between takes this agent's limits and does not keep them: take options out of PgBouncer's "
                    + "ignore_startup_parameters")
        }
        try clocks.expectClose(now, since: begun)
    }

    /// An SQL expression for the server's clock, in seconds since 1970.
    static let clock = "CAST(floor(extract(epoch FROM clock_timestamp())) AS BIGINT)"
}
#endif
