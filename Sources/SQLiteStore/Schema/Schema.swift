import GRDB

/// The tables, as named migrations that are only ever appended.
enum Schema {
    /// Migrations in the file that this version does not know.
    struct UnknownMigrationsError: Error {
        let names: [String]
    }

    /// Makes the missing changes; of a database that holds something a backup is made first.
    static func bringUpToDate(_ pool: DatabasePool, at path: String) throws {
        let applied = try pool.read { try migrator.appliedIdentifiers($0) }
        let unknown = applied.subtracting(migrator.migrations)
        guard unknown.isEmpty else { throw UnknownMigrationsError(names: unknown.sorted()) }
        guard let next = migrator.migrations.first(where: { !applied.contains($0) }) else { return }
        if !applied.isEmpty { try MigrationBackup.make(of: pool, at: path, before: next) }
        try migrator.migrate(pool)
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1-the-book") { try $0.execute(sql: theStore) }
        migrator.registerMigration("2-payment") { try $0.execute(sql: payment) }
        migrator.registerMigration("3-journal") { try $0.execute(sql: journal) }
        migrator.registerMigration("4-retention") { try $0.execute(sql: retention) }
        migrator.registerMigration("5-signed-elsewhere") { try $0.execute(sql: signedElsewhere) }
        migrator.registerMigration("6-outside-keys") { try $0.execute(sql: externalKeys) }
        migrator.registerMigration("7-pin") { try $0.execute(sql: pin) }
        migrator.registerMigration("8-credential-key") { try $0.execute(sql: credentialKey) }
        migrator.registerMigration("9-evidence") { try $0.execute(sql: evidence) }
        migrator.registerMigration("10-push") { try $0.execute(sql: push) }
        migrator.registerMigration("11-messages-a-day") { try $0.execute(sql: messagesADay) }
        migrator.registerMigration("key-tries") { try $0.execute(sql: keyTries) }
        migrator.registerMigration("12-issuers-words") { try $0.execute(sql: issuersWords) }
        migrator.registerMigration("13-seals") { try $0.execute(sql: seals) }
        migrator.registerMigration("sealed-tries") { try $0.execute(sql: sealedTries) }
        migrator.registerMigration("message-tally") { try $0.execute(sql: messageTally) }
        migrator.registerMigration("enrollment-look-ups") { try $0.execute(sql: enrollmentLookUps) }
        migrator.registerMigration("enrollment-marks") { try $0.execute(sql: enrollmentMarks) }
        migrator.registerMigration("journal-blocks") { try $0.execute(sql: journalBlocks) }
        migrator.registerMigration("past-requests") { try $0.execute(sql: pastRequests) }
        migrator.registerMigration("test-clock") { try $0.execute(sql: testClock) }
        migrator.registerMigration("personas") { try $0.execute(sql: personas) }
        migrator.registerMigration("journal-host") { try $0.execute(sql: journalHost) }
        migrator.registerMigration("sealed-key") { try $0.execute(sql: sealedKey) }
        return migrator
    }

    /// Times are seconds since 1970.
    ///
    /// Everything that is looked up has an index, so cost stays flat as history grows.
    private static let theStore = """
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

    /// What an assertion of the form `payment.get` has besides the transaction; null if the plain form is asked for.
    private static let payment = "ALTER TABLE request ADD COLUMN payment BLOB"

    /// The journal, the two points of it that are signed, and the key that signs them, sealed.
    ///
    /// An entry is JSON in its canonical form, and the only form in which it is kept.
    private static let journal = """
        CREATE TABLE journal (
            seq INTEGER PRIMARY KEY,
            entry TEXT NOT NULL
        ) STRICT;

        CREATE TABLE journal_mark (
            name TEXT PRIMARY KEY CHECK (name IN ('head', 'floor')),
            seq INTEGER NOT NULL,
            digest BLOB NOT NULL,
            signature BLOB
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE audit_key (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            sealed BLOB NOT NULL
        ) STRICT;

        ALTER TABLE message ADD COLUMN is_reused INTEGER NOT NULL DEFAULT 0;
        """

    /// When enrollments and messages ended, and how far an erasure is.
    ///
    /// What was there before counts from the day of the migration if its own is not known.
    private static let retention = """
        ALTER TABLE enrollment ADD COLUMN ended_at INTEGER;
        ALTER TABLE enrollment ADD COLUMN erasure TEXT CHECK (erasure IN ('wanted', 'done'));
        UPDATE enrollment SET ended_at = unixepoch() WHERE state = 'ended';
        CREATE INDEX enrollment_ended ON enrollment (ended_at) WHERE state = 'ended';
        CREATE INDEX enrollment_to_erase ON enrollment (seq) WHERE erasure = 'wanted';

        ALTER TABLE message ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
        UPDATE message SET seen_at = COALESCE(
            (SELECT received_at FROM request WHERE id = message.request_id), unixepoch());
        CREATE INDEX message_seen ON message (seen_at);

        CREATE INDEX request_over ON request (received_at) WHERE state <> 'pending' AND delivery <> 'queued';
        """

    /// Whether the raise of a signCount was ever one that only someone else can have caused.
    private static let signedElsewhere = """
        ALTER TABLE enrollment ADD COLUMN sign_count_raised_elsewhere INTEGER NOT NULL DEFAULT 0
        """

    /// Where a key is that the agent did not make, and what it was found to be; null if the agent made it.
    private static let externalKeys = """
        ALTER TABLE enrollment ADD COLUMN key_uri TEXT;
        ALTER TABLE enrollment ADD COLUMN key_kind TEXT;
        ALTER TABLE enrollment ADD COLUMN key_public BLOB;
        ALTER TABLE enrollment ADD COLUMN key_exportable INTEGER;
        """

    /// Wrong PINs, and whether the PIN is easily guessed.
    private static let pin = """
        ALTER TABLE enrollment ADD COLUMN pin_failures INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE enrollment ADD COLUMN pin_blocked_until INTEGER;
        ALTER TABLE enrollment ADD COLUMN pin_guessable INTEGER NOT NULL DEFAULT 0;
        """

    /// The public half of each enrollment's key, as a SubjectPublicKeyInfo; null until it is known.
    private static let credentialKey = """
        ALTER TABLE enrollment ADD COLUMN credential_key BLOB;
        UPDATE enrollment SET credential_key = key_public;
        """
}
