#if PostgreSQL
import PostgresRows
import TableRows

/// What a server must be for its commits to be durable.
enum PostgresServer {
    /// Why a database cannot be the store; a clause, and what to do.
    struct UnfitError: Error {
        let reason: String
    }

    static func check(_ connection: PostgresConnection) throws {
        let rows = try connection.rows(
            """
            SELECT current_setting('server_version_num')::BIGINT, current_setting('server_encoding'),
                pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'),
                current_setting('synchronous_commit'), current_setting('transaction_read_only')
            """)
        guard let row = rows.first, row.count == 7, case .number(let version) = row[0] else {
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
        for (place, name) in [(3, "fsync"), (4, "full_page_writes"), (5, "synchronous_commit")] {
            guard row[place] != .text("off") else {
                throw UnfitError(
                    reason: "\(name) is off there, so a decision that was acknowledged could be lost: set it to on")
            }
        }
    }
}

extension PostgresSchema {
    /// The changes in the database that this version does not know.
    struct UnknownChangesError: Error {
        let names: [String]
    }

    /// Any number will do that no other program takes.
    private static let lock: Int64 = 0x6f6f_625f_6167

    /// Makes the missing changes, while no other host does.
    ///
    /// - Throws: ``UnknownChangesError``; `PostgresServer.UnfitError` if the database is another program's.
    static func bringUpToDate(_ connection: PostgresConnection) throws {
        if try missing(connection).isEmpty { return }
        do {
            _ = try connection.rows("BEGIN")
            _ = try connection.rows("SELECT 1 FROM (SELECT pg_advisory_xact_lock(\(lock))) AS locked")
            // As it is now that no other host changes it.
            let missing = try missing(connection)
            if missing.count == changes.count { try connection.queue(register) }
            for change in missing {
                for statement in change.statements { try connection.queue(statement) }
                try connection.queue("INSERT INTO oob_agent_schema (change) VALUES (?)", [change.name])
            }
            _ = try connection.rows("COMMIT")
        } catch {
            if !connection.isBroken {
                _ = try? connection.answers()
                _ = try? connection.rows("ROLLBACK")
            }
            throw error
        }
    }

    private static func missing(
        _ connection: PostgresConnection
    ) throws -> [(name: String, statements: [String])] {
        let isThere = try connection.rows("SELECT to_regclass('oob_agent_schema') IS NOT NULL").first?.first
        guard isThere == .number(1) else {
            let others = try connection.rows(
                """
                SELECT relname FROM pg_class
                WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p', 'v', 'm')
                ORDER BY relname LIMIT 1
                """)
            guard case .text(let table) = others.first?.first else { return changes }
            throw PostgresServer.UnfitError(
                reason:
                    "another program uses it: it has a table \(table) and none of this agent; create a database of its own"
            )
        }
        let made = Set(
            try connection.rows("SELECT change FROM oob_agent_schema").compactMap { row in
                if case .text(let name) = row.first { name } else { nil }
            })
        let unknown = made.subtracting(changes.map(\.name))
        guard unknown.isEmpty else { throw UnknownChangesError(names: unknown.sorted()) }
        return changes.filter { !made.contains($0.name) }
    }
}
#endif
