#if PostgreSQL
import Glibc
import Records
import StoreTables
import TableRows

/// The tables in PostgreSQL: the shared ones (``StoreSchema``), and others that only several hosts need.
enum PostgresSchema {
    /// The tables that are empty in a database on which no agent has run.
    static let filled = [
        "moved_state", "secret_change", "host", "enrollment", "data_key", "key_tries", "request", "message",
        "message_tally", "stored_bytes", "cancellation", "evidence", "push_subscription",
        "persona", "script",
        "test_clock", "proven_time", "journal", "journal_mark", "audit_key", "row_key", "journal_checkpoint",
        "journal_of_request",
    ]

    /// The oldest supported server (PostgreSQL's `server_version_num`).
    static let oldestServer: Int64 = 150_000

    /// Other hosts have held the schema lock for too long.
    struct BusyError: Error {}

    /// The key of the advisory lock.
    ///
    /// Any number works that no other program uses.
    private static let lock: Int64 = 0x6f6f_625f_6167
    /// The pause between two attempts to get the schema lock, in microseconds.
    ///
    /// All attempts together take a minute.
    private static let pause: UInt32 = 50_000
    private static let looks = 1_200

    /// Creates the tables in an empty database, one host at a time, and records the form that this host knows.
    ///
    /// - Throws: `StoreFormError` or ``BusyError``. The database is then unchanged.
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

    /// Begins a database transaction that has the schema lock (an advisory lock).
    ///
    /// It tries the lock repeatedly, so that no statement timeout limits the waiting.
    private static func lockSchema(_ connection: PostgresConnection) throws {
        for _ in 0..<looks {
            try connection.begin("BEGIN")
            if try connection.rows("SELECT pg_try_advisory_xact_lock(\(lock))").first?.first == .number(1) { return }
            _ = try connection.rows("ROLLBACK")
            usleep(pause)
        }
        throw BusyError()
    }

    // The journal's tables refer to `host`, which therefore comes first.
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
        // The form that the last started agent of each host knows. A later form that removes something needs it.
        """
        CREATE TABLE host_version (
            host TEXT COLLATE "C" PRIMARY KEY,
            form BIGINT NOT NULL,
            started_at TIMESTAMPTZ NOT NULL
        )
        """,
        // The cluster and the timeline of the database when an agent last started.
        "CREATE TABLE lineage (one BIGINT PRIMARY KEY CHECK (one = 1), line TEXT COLLATE \"C\" NOT NULL)",
        // The host that changes the shared secret, the fingerprints of both secrets, and whether a host has verified
        // that every value opens under one of them. Empty without a change.
        """
        CREATE TABLE secret_change (
            one BIGINT PRIMARY KEY CHECK (one = 1),
            host TEXT COLLATE "C" NOT NULL,
            present BYTEA NOT NULL,
            previous BYTEA NOT NULL,
            is_surveyed BIGINT NOT NULL DEFAULT 0
        )
        """,
        // The host that polls and delivers for the enrollments of a bucket, and the number of times that this host has
        // changed.
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
        // Rows that are written often have free space in their page for the next version.
        "ALTER TABLE enrollment SET (fillfactor = 80)",
        "ALTER TABLE journal_mark SET (fillfactor = 50)",
        // A second safeguard besides the row locks: a payment transaction is presented and decided once.
        """
        CREATE UNIQUE INDEX request_presented ON request (acs_trans_id, enrollment_id)
            WHERE is_presented = 1 AND state IN ('pending', 'approved', 'denied')
        """,
    ]
}
#endif
