extension StoreSchema {
    /// The statements, with placeholders for the places where the two databases differ.
    ///
    /// - `/*host*/` and `/*host,*/`: PostgreSQL has a column for the host whose journal chain the row belongs to.
    /// - `/*counted*/`: PostgreSQL has an identity column; SQLite counts up from the newest row.
    /// - `/*marks*/` and `/*by marks*/`: the marks of an enrollment, a column in PostgreSQL and an expression in
    ///   SQLite.
    static let tables = itself + enrollments + requests + keptOfRequests + journal

    private static let itself = [
        // The presence of this table also marks the database as the agent's. digest: SHA-256 of the statements that
        // created it.
        """
        CREATE TABLE oob_agent_store (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            form INTEGER NOT NULL,
            least_form INTEGER NOT NULL,
            digest TEXT NOT NULL
        ) STRICT
        """,
        // Records that a state was moved here and the move is not concluded ('in'), or that it was moved away ('out').
        """
        CREATE TABLE moved_state (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
            place TEXT NOT NULL
        ) STRICT
        """,
    ]

    // Columns of an enrollment:
    // - seal: covers the whole row. journal_seq: the journal's newest entry when the row was written. journal_host: the
    //   host of that chain, null if the store has one chain.
    // - version: 1 for a new row; each write on any host adds 1. pin_epoch: the number of times that pin_failures fell.
    // - roots_pem, name, user_handle, key_uri, body: encrypted, like the personal values of a request. name_bucket: the
    //   number by which a name is looked up, 0 if it is not known, -1 once the name is erased.
    // - key_uri and the other columns of a key: the location of a key that the agent did not make, and its inspected
    //   properties.
    // - refused_sign_count: set if an assertion with this signCount was refused, or if this database is a copy. Null
    //   again once the issuer has said which signCount it accepted.
    // - marks: a column in PostgreSQL only.
    private static let enrollments = [
        """
        CREATE TABLE enrollment (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            issuer TEXT NOT NULL,
            roots_pem BLOB,
            name BLOB NOT NULL,
            authn_type TEXT NOT NULL,
            algorithm INTEGER NOT NULL,
            rp_id TEXT NOT NULL,
            credential_id BLOB NOT NULL UNIQUE,
            user_handle BLOB NOT NULL,
            started_at INTEGER NOT NULL,
            key_uri BLOB,
            key_kind TEXT,
            key_public BLOB,
            key_exportable INTEGER,
            takes_push INTEGER NOT NULL,
            sign_count INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('enrolling', 'active', 'suspended', 'ended')),
            body BLOB,
            authenticator_id TEXT,
            sealed_token BLOB,
            enrolled_at INTEGER,
            sign_count_raised_from INTEGER,
            sign_count_raised_to INTEGER,
            sign_count_raised_at INTEGER,
            sign_count_raised_elsewhere INTEGER NOT NULL,
            end_reason TEXT,
            ended_at INTEGER,
            credential_key BLOB,
            pin_failures INTEGER NOT NULL,
            pin_blocked_until INTEGER,
            pin_guessable INTEGER NOT NULL,
            key_identity BLOB,
            refused_sign_count INTEGER,
            journal_seq INTEGER NOT NULL,
            journal_host TEXT,
            sealed_key BLOB,
            name_bucket INTEGER NOT NULL,
            version INTEGER NOT NULL,
            pin_epoch INTEGER NOT NULL,
            seal BLOB NOT NULL,
            erasure TEXT CHECK (erasure IN ('wanted', 'done'))/*marks*/
        ) STRICT
        """,
        "CREATE INDEX enrollment_ended ON enrollment (ended_at) WHERE state = 'ended'",
        "CREATE INDEX enrollment_to_erase ON enrollment (seq) WHERE erasure = 'wanted'",
        "CREATE INDEX enrollment_by_name ON enrollment (name_bucket, seq)",
        "CREATE INDEX enrollment_by_state ON enrollment (state, seq) WHERE state <> 'ended'",
        "CREATE INDEX enrollment_of_external_key ON enrollment (seq) WHERE key_uri IS NOT NULL AND state <> 'ended'",
        """
        CREATE INDEX enrollment_signed_elsewhere ON enrollment (seq)
            WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended'
        """,
        "CREATE INDEX enrollment_by_marks ON enrollment (/*by marks*/, seq) WHERE state <> 'ended'",
        // The keys under which the personal values of enrollments are encrypted; an erasure overwrites them. Not a
        // column of the enrollment, because each change of the enrollment would write the key again. In SQLite all rows
        // have one length and no row is deleted, so no key moves from its place. The next enrollment reuses the row of
        // a destroyed key.
        """
        CREATE TABLE data_key (
            slot INTEGER PRIMARY KEY/*counted*/,
            enrollment_id TEXT NOT NULL UNIQUE,
            sealed BLOB NOT NULL
        ) STRICT
        """,
        // Wrong PINs of keys that the agent did not make, by a digest that identifies the key. They outlive
        // enrollments. No row is deleted, so its version never starts again. tries_epoch works like pin_epoch.
        """
        CREATE TABLE key_tries (
            identity BLOB PRIMARY KEY,
            failures INTEGER NOT NULL,
            blocked_until INTEGER,
            under_way TEXT,
            tries_version INTEGER NOT NULL,
            tries_epoch INTEGER NOT NULL,
            tries_seal BLOB NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        // The endpoint that the issuer pushes to, and the sealed key that decrypts its messages.
        """
        CREATE TABLE push_subscription (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id) ON DELETE CASCADE,
            token_digest BLOB NOT NULL UNIQUE,
            endpoint TEXT NOT NULL,
            sealed_key BLOB NOT NULL,
            vapid_key BLOB NOT NULL,
            is_registered INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX push_subscription_by_enrollment ON push_subscription (enrollment_id, seq)",
        // The simulated cardholders of `test` enrollments. Only the personas code interprets the documents.
        """
        CREATE TABLE persona (
            enrollment_id TEXT PRIMARY KEY REFERENCES enrollment (id) ON DELETE CASCADE,
            document TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        // The seconds by which the test clock is ahead of the machine's clock. No row if it was never advanced.
        """
        CREATE TABLE test_clock (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            "offset" INTEGER NOT NULL CHECK ("offset" >= 0)
        ) STRICT
        """,
        // The time that has provably passed, and the number of times that a person has set it.
        """
        CREATE TABLE proven_time (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            at INTEGER NOT NULL CHECK (at >= 0),
            acceptances INTEGER NOT NULL CHECK (acceptances >= 0)
        ) STRICT
        """,
    ]

    // is_presented: stays set once the presented message is erased. warnings: null if there are none. transaction,
    // nonce and payment are in the message.
    // …_piece: the row of `evidence` with the message, the text and the decision. Null if there is none, or if it was
    // erased.
    // queue_place: the delivery order of a decision: the signCount of an approval, or a place after the others for a
    // denial.
    // counted_bytes: the bytes that the request adds to `stored_bytes`.
    // answer_until and answer_place: columns of a message that waits to be denied as `duplicate`.
    private static let requests = [
        """
        CREATE TABLE request (
            seq INTEGER PRIMARY KEY/*counted*/,
            id TEXT NOT NULL UNIQUE,
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            jti TEXT NOT NULL,
            iat INTEGER,
            exp INTEGER,
            acs_trans_id TEXT,
            is_presented INTEGER NOT NULL,
            transaction_digest BLOB,
            warnings BLOB,
            traceparent TEXT,
            issuer_key BLOB,
            message_piece INTEGER,
            text_piece INTEGER,
            decision_piece INTEGER,
            received_at INTEGER NOT NULL,
            decided_at INTEGER,
            counted_bytes INTEGER NOT NULL,
            queue_place INTEGER,
            state TEXT NOT NULL CHECK (state = 'pending' OR state = 'approved' OR state = 'denied'
                OR state = 'expired' OR state = 'cancelled' OR state = 'refused'),
            reason TEXT,
            refusal TEXT,
            delivery TEXT NOT NULL CHECK (delivery = 'none' OR delivery = 'queued'
                OR delivery = 'delivered' OR delivery = 'failed'),
            trans_status TEXT,
            delivery_failure TEXT,
            delivery_error TEXT,
            has_conflict INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX request_by_jti ON request (jti)",
        "CREATE INDEX request_by_acs_trans_id ON request (acs_trans_id, enrollment_id, iat)",
        "CREATE INDEX request_by_enrollment ON request (enrollment_id, seq)",
        // Undecided requests, and decisions that wait for delivery. SQLite uses the index only if the statement has one
        // of the two conditions.
        """
        CREATE INDEX request_open ON request (state, enrollment_id, queue_place, exp)
            WHERE state = 'pending' OR delivery = 'queued'
        """,
        "CREATE INDEX request_unpresented ON request (enrollment_id, received_at) WHERE is_presented = 0",
        "CREATE INDEX request_never_shown ON request (received_at) WHERE \(StoreReading.neverShown)",
        "CREATE INDEX request_over ON request (received_at) WHERE state <> 'pending' AND delivery <> 'queued'",
        """
        CREATE TABLE message (
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            jti TEXT NOT NULL,
            payload_digest BLOB NOT NULL,
            request_id TEXT,
            is_reused INTEGER NOT NULL DEFAULT 0,
            seen_at INTEGER NOT NULL,
            answer_until INTEGER,
            answer_place INTEGER,
            traceparent TEXT,
            last_error TEXT,
            PRIMARY KEY (enrollment_id, jti)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX message_seen ON message (seen_at)",
        "CREATE INDEX message_to_answer ON message (enrollment_id, answer_place) WHERE answer_until IS NOT NULL",
        // A slot lasts `StoreReading.messageSlot` seconds. A slot without messages has no row.
        """
        CREATE TABLE message_tally (
            enrollment_id TEXT NOT NULL,
            slot INTEGER NOT NULL,
            messages INTEGER NOT NULL,
            PRIMARY KEY (enrollment_id, slot)
        ) STRICT, WITHOUT ROWID
        """,
        // The owner is an enrollment's id or an issuer's URL. The total is the sum of the parts: each PostgreSQL host
        // counts in a part of its own, so that no host waits for another.
        """
        CREATE TABLE stored_bytes (
            owner TEXT NOT NULL,
            part TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (owner, part)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE cancellation (
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id),
            cancels TEXT NOT NULL,
            until INTEGER NOT NULL,
            PRIMARY KEY (enrollment_id, cancels)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX cancellation_until ON cancellation (until)",
    ]

    private static let keptOfRequests = [
        // The long values of requests. Each is appended once: in the request's row, each would fill a page of its own.
        """
        CREATE TABLE evidence (
            piece INTEGER PRIMARY KEY/*counted*/,
            bytes BLOB NOT NULL
        ) STRICT
        """,
        // The script that is to answer a request of a `test` enrollment.
        "CREATE TABLE script (request_seq INTEGER PRIMARY KEY, rule TEXT, document TEXT NOT NULL) STRICT",
        "CREATE INDEX script_by_rule ON script (rule) WHERE rule IS NOT NULL",
    ]

    // An entry is stored only as canonical JSON. The head and the floor of a chain are signed with a sealed key.
    private static let journal = [
        "CREATE TABLE journal (/*host*/seq INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (/*host,*/seq)) STRICT",
        """
        CREATE TABLE journal_mark (
            /*host*/name TEXT NOT NULL CHECK (name IN ('head', 'floor')),
            seq INTEGER NOT NULL,
            digest BLOB NOT NULL,
            signature BLOB,
            rows BLOB,
            PRIMARY KEY (/*host,*/name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE audit_key (
            /*host*/one INTEGER NOT NULL CHECK (one = 1),
            sealed BLOB NOT NULL,
            PRIMARY KEY (/*host,*/one)
        ) STRICT
        """,
        // The key of the terms in the row sums, which are in the column `rows` of the heads.
        "CREATE TABLE row_key (one INTEGER PRIMARY KEY CHECK (one = 1), sealed BLOB NOT NULL) STRICT",
        """
        CREATE TABLE journal_checkpoint (
            /*host*/seq INTEGER NOT NULL,
            digest BLOB NOT NULL,
            earlier BLOB NOT NULL,
            signature BLOB NOT NULL,
            PRIMARY KEY (/*host,*/seq)
        ) STRICT
        """,
        // The checkpoints that cover entries about a request. A checkpoint may have been removed for its age.
        """
        CREATE TABLE journal_of_request (
            /*host*/request_seq INTEGER NOT NULL,
            checkpoint INTEGER NOT NULL,
            PRIMARY KEY (request_seq, /*host,*/checkpoint)
        ) STRICT, WITHOUT ROWID
        """,
    ]
}
