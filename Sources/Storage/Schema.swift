import GRDB

/// The tables, as named migrations that are only ever appended.
enum Schema {
    /// Migrations in the file that this version does not know.
    struct UnknownMigrations: Error {
        let names: [String]
    }

    static func bringUpToDate(_ pool: DatabasePool) throws {
        let known = Set(migrator.migrations)
        let unknown = try pool.read { try migrator.appliedIdentifiers($0) }.subtracting(known)
        guard unknown.isEmpty else { throw UnknownMigrations(names: unknown.sorted()) }
        try migrator.migrate(pool)
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1-the-book") { try $0.execute(sql: theBook) }
        migrator.registerMigration("2-payment") { try $0.execute(sql: payment) }
        return migrator
    }

    /// Times are seconds since 1970.
    ///
    /// Everything that is looked up has an index, so cost stays flat as history grows.
    private static let theBook = """
        CREATE TABLE enrollment (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            issuer TEXT NOT NULL,
            roots_pem TEXT,
            name TEXT NOT NULL,
            authn_type TEXT NOT NULL,
            algorithm INTEGER NOT NULL,
            rp_id TEXT NOT NULL,
            credential_id BLOB NOT NULL UNIQUE,
            user_handle BLOB NOT NULL,
            started_at INTEGER NOT NULL,
            sign_count INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('keyless', 'enrolling', 'active', 'suspended', 'ended')),
            body BLOB,
            authenticator_id TEXT,
            sealed_token BLOB,
            enrolled_at INTEGER,
            key_removed INTEGER NOT NULL DEFAULT 0,
            sign_count_raised_from INTEGER,
            sign_count_raised_to INTEGER,
            sign_count_raised_at INTEGER,
            end_reason TEXT
        ) STRICT;

        CREATE TABLE request (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            jti TEXT NOT NULL,
            iat INTEGER,
            exp INTEGER,
            acs_trans_id TEXT,
            members BLOB,
            transaction_digest BLOB,
            nonce BLOB,
            warnings BLOB,
            traceparent TEXT,
            message TEXT NOT NULL,
            received_at INTEGER NOT NULL,
            decided_at INTEGER,
            state TEXT NOT NULL
                CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'cancelled', 'refused')),
            reason TEXT,
            refusal TEXT,
            delivery TEXT NOT NULL CHECK (delivery IN ('none', 'queued', 'delivered', 'failed')),
            trans_status TEXT,
            delivery_failure TEXT,
            has_conflict INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX request_by_jti ON request (jti);
        CREATE INDEX request_by_acs_trans_id ON request (acs_trans_id, enrollment_id, iat);
        CREATE INDEX request_by_enrollment ON request (enrollment_id, seq);
        CREATE INDEX request_pending ON request (enrollment_id, seq) WHERE state = 'pending';
        CREATE INDEX request_unpresented ON request (enrollment_id, received_at) WHERE members IS NULL;
        CREATE INDEX request_pending_exp ON request (exp) WHERE state = 'pending';

        CREATE TABLE message (
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            jti TEXT NOT NULL,
            payload_digest BLOB NOT NULL,
            request_id TEXT,
            PRIMARY KEY (enrollment_id, jti)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE cancellation (
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            cancels TEXT NOT NULL,
            until INTEGER NOT NULL,
            PRIMARY KEY (enrollment_id, cancels)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX cancellation_until ON cancellation (until);

        CREATE TABLE outbox (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            jti TEXT NOT NULL,
            request_id TEXT,
            sign_count INTEGER,
            body BLOB NOT NULL,
            exp INTEGER NOT NULL,
            traceparent TEXT,
            UNIQUE (enrollment_id, jti)
        ) STRICT;
        CREATE INDEX outbox_lane ON outbox (enrollment_id, sign_count, seq);
        """

    /// What an assertion of the form `payment.get` has besides the transaction; null where the plain form is asked for.
    private static let payment = "ALTER TABLE request ADD COLUMN payment BLOB"
}
