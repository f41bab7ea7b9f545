#if PostgreSQL
import Glibc
import Records
import StoreTables
import TableRows

/// The tables in PostgreSQL: those of both databases (``StoreSchema``), and what only several hosts need.
enum PostgresSchema {
    /// The tables that are empty in a database that no agent has run on.
    static let filled = [
        "moved_state", "secret_change", "host", "enrollment", "data_key", "key_tries", "request", "message",
        "message_tally", "stored_bytes", "cancellation", "evidence", "push_subscription",
        "persona", "script",
        "test_clock", "proven_time", "journal", "journal_mark", "audit_key", "row_key", "journal_checkpoint",
        "journal_of_request",
    ]

    /// The oldest server that is known to do (PostgreSQL's `server_version_num`).
    static let oldestServer: Int64 = 150_000

    /// Other hosts have been making the tables all the time.
    struct BusyError: Error {}

    /// Any number will do that no other program takes.
    private static let lock: Int64 = 0x6f6f_625f_6167
    /// Microseconds between two looks whether no other host makes the tables, and how many looks there are: a minute.
    private static let pause: UInt32 = 50_000
    private static let looks = 1_200

    /// Makes the tables in an empty database while no other host does, and notes the form that this host knows.
    ///
    /// - Throws: `StoreFormError`, ``BusyError``; nothing was changed then.
    static func prepare(_ connection: PostgresConnection, for host: HostName) throws {
        do {
            try lockSchema(connection)
            let statements = ofHosts + StoreSchema.statements(for: .postgres) + besides
            if try !StoreSchema.isMade(in: PostgresSession(connection, host: host), by: statements) {
                for statement in try statements + [StoreSchema.record(of: statements)] {
                    try connection.queue(statement)
                }
            }
            try connection.queue(
                """
                INSERT INTO host_version (host, form, started_at) VALUES (?, ?, clock_timestamp())
                ON CONFLICT (host) DO UPDATE SET form = excluded.form, started_at = excluded.started_at
                """, [host.text, StoreSchema.form])
            _ = try connection.rows("COMMIT")
        } catch {
            if !connection.isBroken {
                _ = try? connection.answers()
                _ = try? connection.rows("ROLLBACK")
            }
            throw error
        }
    }

    /// Begins a database transaction that no other host's runs beside.
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

    // The journal's rows refer to the first of these.
    private static let ofHosts = [
        """
        CREATE TABLE host (
            name TEXT COLLATE "C" PRIMARY KEY,
            identity BYTEA NOT NULL,
            incarnation BIGINT NOT NULL,
            alive_until TIMESTAMPTZ NOT NULL,
            last_write BIGINT NOT NULL DEFAULT 0,
            seals BYTEA NOT NULL DEFAULT '',
            opens BYTEA NOT NULL DEFAULT ''
        ) WITH (fillfactor = 50)
        """,
        // The form that the agent knows which started last on a host: a later form that takes something away asks for it.
        """
        CREATE TABLE host_version (
            host TEXT COLLATE "C" PRIMARY KEY,
            form BIGINT NOT NULL,
            started_at TIMESTAMPTZ NOT NULL
        )
        """,
        // Of which cluster and timeline the database was when an agent started last.
        "CREATE TABLE lineage (one BIGINT PRIMARY KEY CHECK (one = 1), line TEXT COLLATE \"C\" NOT NULL)",
        // Which host changes the secret that all hosts have, the fingerprints of the two, and whether a host has found that
        // all opens under one of them; empty if none does.
        """
        CREATE TABLE secret_change (
            one BIGINT PRIMARY KEY CHECK (one = 1),
            host TEXT COLLATE "C" NOT NULL,
            present BYTEA NOT NULL,
            previous BYTEA NOT NULL,
            is_surveyed BIGINT NOT NULL DEFAULT 0
        )
        """,
        // Which host polls and delivers for the enrollments of a bucket, and how often that has changed hands.
        """
        CREATE TABLE lease (
            bucket BIGINT PRIMARY KEY,
            host TEXT COLLATE "C",
            epoch BIGINT NOT NULL,
            valid_until TIMESTAMPTZ NOT NULL
        )
        """,
        """
        INSERT INTO lease (bucket, epoch, valid_until)
            SELECT bucket, 0, now() FROM generate_series(0, \(PostgresShares.buckets - 1)) AS bucket
        """,
    ]

    private static let besides = [
        // Rows that are written often have room beside them for their next version.
        "ALTER TABLE enrollment SET (fillfactor = 80)",
        "ALTER TABLE journal_mark SET (fillfactor = 50)",
        // What the rows' locks see to, once more: a transaction is presented and decided once.
        """
        CREATE UNIQUE INDEX request_presented ON request (acs_trans_id, enrollment_id)
            WHERE is_presented = 1 AND state IN ('pending', 'approved', 'denied')
        """,
    ]
}
#endif
