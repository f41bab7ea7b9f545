#if PostgreSQL
import TableRows

/// Detects whether another database has taken the place of the agents' own.
///
/// A restore from a backup and a promoted standby begin another timeline. A copy in another cluster has another system
/// identifier. Such a database may lack decisions whose signCounts the issuers have already seen.
enum PostgresLineage {
    /// The number of enrollments that are marked in one database transaction.
    private static let batch: Int64 = 10_000

    /// Records the lineage.
    ///
    /// If it has changed, keeps all enrollments from signing for now. They sign again once their issuer has said which
    /// signCount it accepted. An interrupted run starts again from the beginning. Enrollments that other hosts use
    /// meanwhile are marked too.
    static func record(_ connection: PostgresConnection) throws {
        let line = try connection.rows(
            """
            SELECT CAST(system_identifier AS TEXT) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            FROM pg_control_system()
            """
        ).first?.first
        guard let line, case .text = line else {
            throw PostgresServer.UnfitError(reason: "it does not say its timeline")
        }
        let known = try connection.rows("SELECT line FROM lineage").first?.first
        guard known != line else { return }
        if known != nil { try mark(connection) }
        _ = try connection.rows(
            """
            INSERT INTO lineage (one, line) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET line = excluded.line
            """, [line])
    }

    /// Marks all enrollments in the same way as a copy of a SQLite state.
    private static func mark(_ connection: PostgresConnection) throws {
        let found = try connection.rows("SELECT coalesce(max(seq), 0) FROM enrollment").first?.first
        guard case .number(let last) = found else { return }
        for start in stride(from: 0, through: max(0, last), by: Int(batch)) {
            _ = try connection.rows(
                """
                UPDATE enrollment SET refused_sign_count = sign_count
                WHERE seq > ? AND seq <= ? AND state IN ('active', 'suspended') AND refused_sign_count IS NULL
                """, [.number(start), .number(start + batch)])
        }
    }
}
#endif
