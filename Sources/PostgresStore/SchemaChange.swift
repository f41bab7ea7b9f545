#if PostgreSQL
import Authenticator
import Glibc
import PostgresRows
import TableRows

/// A change of the tables, which stays as it is once it was released.
///
/// It is made in one database transaction and within the limits of any other (`PostgresLimits`). An index of a large table
/// takes longer: an operator makes it before the upgrade (`CREATE INDEX CONCURRENTLY IF NOT EXISTS`).
struct SchemaChange: Sendable {
    let name: String
    /// The newest change that an agent must know to work on the tables as this one leaves them.
    ///
    /// One that only adds names the change before it, so that the version before goes on. One that removes what an earlier
    /// change has replaced names that earlier one.
    let worksFrom: String
    let statements: [String]
}

extension PostgresSchema {
    /// Changes in the database that this version does not know, and needs to.
    struct UnknownChangesError: Error {
        let names: [String]
    }

    /// A host that runs an older version could not go on after a change.
    struct OlderHostError: Error {
        let host: String
        let change: String
    }

    /// Other hosts have been changing the tables all the time.
    struct BusyError: Error {}

    /// Any number will do that no other program takes.
    private static let lock: Int64 = 0x6f6f_625f_6167
    /// Microseconds between two looks whether no other host changes the tables, and how many looks there are: a minute.
    private static let pause: UInt32 = 50_000
    private static let looks = 1_200
    /// Seconds for which an agent may be starting, so that it does not count as a living host yet.
    private static let starting = 60

    /// Makes the missing changes while no other host does, and notes what this one knows.
    ///
    /// - Parameter changes: those that this version knows.
    /// - Throws: ``UnknownChangesError``, ``OlderHostError``, ``BusyError``; `PostgresServer.UnfitError` if the database is
    ///   another program's. Nothing was changed then.
    static func bringUpToDate(
        _ connection: PostgresConnection, for host: HostName, by changes: [SchemaChange] = changes
    ) throws {
        do {
            try lockSchema(connection)
            let missing = try missing(connection, changes)
            if missing.count == changes.count { try connection.queue(register) }
            for change in missing { try make(change, connection, for: host, by: changes) }
            try connection.queue(
                """
                INSERT INTO host_version (host, knows, started_at) VALUES (?, ?, clock_timestamp())
                ON CONFLICT (host) DO UPDATE SET knows = excluded.knows, started_at = excluded.started_at
                """, [host.text, changes.last?.name ?? ""])
            _ = try connection.rows("COMMIT")
        } catch {
            if !connection.isBroken {
                _ = try? connection.answers()
                _ = try? connection.rows("ROLLBACK")
            }
            throw error
        }
    }

    /// Begins a database transaction that no other host's change runs beside.
    ///
    /// The lock is asked for again and again, so that waiting for it is under no limit of a statement.
    private static func lockSchema(_ connection: PostgresConnection) throws {
        for _ in 0..<looks {
            try connection.begin("BEGIN")
            if try connection.rows("SELECT pg_try_advisory_xact_lock(\(lock))").first?.first == .number(1) { return }
            _ = try connection.rows("ROLLBACK")
            usleep(pause)
        }
        throw BusyError()
    }

    private static func make(
        _ change: SchemaChange, _ connection: PostgresConnection, for host: HostName, by changes: [SchemaChange]
    ) throws {
        let names = changes.map(\.name)
        let tooOld = names.firstIndex(of: change.worksFrom).map { names.prefix($0) } ?? names[...]
        // At the first start there are no tables yet, and no hosts.
        if change.name != names.first, !tooOld.isEmpty {
            let rows = try connection.rows(
                """
                SELECT host_version.host, host_version.knows FROM host_version
                LEFT JOIN host ON host.name = host_version.host
                WHERE host_version.host <> ?
                    AND (host.alive_until > clock_timestamp()
                        OR host.name IS NULL AND started_at > clock_timestamp() - interval '\(starting) s')
                ORDER BY host_version.host
                """, [host.text])
            for row in rows {
                guard case .text(let name) = row[0], case .text(let knows) = row[1], tooOld.contains(knows) else {
                    continue
                }
                throw OlderHostError(host: name, change: change.name)
            }
        }
        for statement in change.statements { try connection.queue(statement) }
        try connection.queue(
            "INSERT INTO oob_agent_schema (change, works_from) VALUES (?, ?)", [change.name, change.worksFrom])
    }

    private static func missing(_ connection: PostgresConnection, _ changes: [SchemaChange]) throws -> [SchemaChange] {
        let isThere = try connection.rows("SELECT to_regclass('oob_agent_schema') IS NOT NULL").first?.first
        guard isThere == .number(1) else {
            try expectNoTables(connection)
            return changes
        }
        let known = Set(changes.map(\.name))
        var made: Set<String> = []
        var unknown: [String] = []
        for row in try connection.rows("SELECT change, works_from FROM oob_agent_schema ORDER BY change") {
            guard case .text(let change) = row[0], case .text(let worksFrom) = row[1] else { continue }
            made.insert(change)
            if !known.contains(change), !known.contains(worksFrom) { unknown.append(change) }
        }
        guard unknown.isEmpty else { throw UnknownChangesError(names: unknown) }
        return changes.filter { !made.contains($0.name) }
    }

    private static func expectNoTables(_ connection: PostgresConnection) throws {
        let others = try connection.rows(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p', 'v', 'm')
            ORDER BY relname LIMIT 1
            """)
        guard case .text(let table) = others.first?.first else { return }
        throw PostgresServer.UnfitError(
            reason:
                "another program uses it: it has a table \(table) and none of this agent; create a database of its own")
    }
}
#endif
