#if PostgreSQL
import StoreTables

/// The tables, as named changes that are only ever appended.
///
/// A change must leave what the version before needs: during an upgrade both run at once. So a column is added by one
/// version, and what it replaces is removed by a later one (``SchemaChange/worksFrom``).
enum PostgresSchema {
    /// The changes, in their order.
    static let changes = [SchemaChange(name: "1-tables", worksFrom: "1-tables", statements: tables)]

    /// The tables that are empty in a database that no agent has run on.
    static let filled = [
        "moved_state", "secret_change", "host", "enrollment", "data_key", "key_tries", "lock", "request", "message",
        "message_tally", "cancellation", "outbox", "evidence", "past_request", "issuer_key", "push_subscription",
        "persona", "script",
        "test_clock", "journal", "journal_mark", "audit_key", "journal_block", "journal_of_request",
    ]

    /// The oldest server that is known to do (PostgreSQL's `server_version_num`).
    static let oldestServer: Int64 = 150_000

    /// Which of ``changes`` were made; this table says whose database it is.
    static let register = """
        CREATE TABLE oob_agent_schema (
            change TEXT COLLATE "C" PRIMARY KEY,
            works_from TEXT COLLATE "C" NOT NULL,
            made_at TIMESTAMPTZ NOT NULL DEFAULT now()
        )
        """

    // Numbers are `bigint` and flags are numbers, as in SQLite, so that the statements are the same. Texts are compared by
    // their bytes (`COLLATE "C"`). Times are seconds since 1970.
    private static let tables = [
        """
        CREATE TABLE host (
            name TEXT COLLATE "C" PRIMARY KEY,
            identity BYTEA NOT NULL,
            incarnation BIGINT NOT NULL,
            alive_until TIMESTAMPTZ NOT NULL,
            last_write BIGINT NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50)
        """,
        // Up to which change the agent knows the tables that started last on a host.
        """
        CREATE TABLE host_version (
            host TEXT COLLATE "C" PRIMARY KEY,
            knows TEXT COLLATE "C" NOT NULL,
            started_at TIMESTAMPTZ NOT NULL
        )
        """,
        // Of which cluster and timeline the database was when an agent started last.
        "CREATE TABLE lineage (one BIGINT PRIMARY KEY CHECK (one = 1), line TEXT COLLATE \"C\" NOT NULL)",
        // Which host changes the secret that all hosts have; empty if none does.
        "CREATE TABLE secret_change (one BIGINT PRIMARY KEY CHECK (one = 1), host TEXT COLLATE \"C\" NOT NULL)",
        // Whether a state was moved here, and that is not concluded yet ('in'), or was moved away ('out').
        """
        CREATE TABLE moved_state (
            one BIGINT PRIMARY KEY CHECK (one = 1),
            direction TEXT COLLATE "C" NOT NULL CHECK (direction IN ('in', 'out')),
            place TEXT COLLATE "C" NOT NULL
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
        """
        CREATE TABLE enrollment (
            seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id TEXT COLLATE "C" NOT NULL UNIQUE,
            issuer TEXT COLLATE "C" NOT NULL,
            roots_pem TEXT COLLATE "C",
            name TEXT COLLATE "C" NOT NULL,
            authn_type TEXT COLLATE "C" NOT NULL,
            algorithm BIGINT NOT NULL,
            rp_id TEXT COLLATE "C" NOT NULL,
            credential_id BYTEA NOT NULL UNIQUE,
            user_handle BYTEA NOT NULL,
            started_at BIGINT NOT NULL,
            key_uri TEXT COLLATE "C",
            key_kind TEXT COLLATE "C",
            key_public BYTEA,
            key_exportable BIGINT,
            takes_push BIGINT NOT NULL,
            sign_count BIGINT NOT NULL,
            state TEXT COLLATE "C" NOT NULL
                CHECK (state IN ('keyless', 'enrolling', 'active', 'suspended', 'ended')),
            body BYTEA,
            authenticator_id TEXT COLLATE "C",
            sealed_token BYTEA,
            enrolled_at BIGINT,
            key_removed BIGINT NOT NULL,
            sign_count_raised_from BIGINT,
            sign_count_raised_to BIGINT,
            sign_count_raised_at BIGINT,
            sign_count_raised_elsewhere BIGINT NOT NULL,
            end_reason TEXT COLLATE "C",
            ended_at BIGINT,
            credential_key BYTEA,
            pin_failures BIGINT NOT NULL,
            pin_blocked_until BIGINT,
            pin_guessable BIGINT NOT NULL,
            key_identity BYTEA,
            refused_sign_count BIGINT,
            journal_seq BIGINT NOT NULL,
            journal_host TEXT COLLATE "C",
            sealed_key BYTEA,
            seal BYTEA,
            erasure TEXT COLLATE "C" CHECK (erasure IN ('wanted', 'done')),
            marks BIGINT NOT NULL GENERATED ALWAYS AS (
                CASE WHEN sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere <> 0 THEN 1 ELSE 0 END
                + CASE WHEN sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere = 0 THEN 2 ELSE 0 END
                + CASE WHEN authn_type = 'test' THEN 4 ELSE 0 END
                + CASE WHEN pin_guessable <> 0 THEN 8 ELSE 0 END
                + CASE WHEN key_uri IS NOT NULL AND key_kind IS DISTINCT FROM 'file' AND key_exportable <> 0
                    THEN 16 ELSE 0 END
                + CASE WHEN key_uri IS NOT NULL AND key_kind IS DISTINCT FROM 'file' AND key_exportable IS NULL
                    THEN 32 ELSE 0 END
                + CASE WHEN key_uri IS NULL OR key_kind = 'file' THEN 64 ELSE 0 END
                + CASE WHEN substr(issuer, 1, 5) = 'http:' THEN 128 ELSE 0 END
            ) STORED
        ) WITH (fillfactor = 80)
        """,
        "CREATE INDEX enrollment_ended ON enrollment (ended_at) WHERE state = 'ended'",
        "CREATE INDEX enrollment_to_erase ON enrollment (seq) WHERE erasure = 'wanted'",
        "CREATE INDEX enrollment_by_name ON enrollment (name)",
        "CREATE INDEX enrollment_by_state ON enrollment (state, seq) WHERE state <> 'ended'",
        "CREATE INDEX enrollment_of_external_key ON enrollment (seq) WHERE key_uri IS NOT NULL AND state <> 'ended'",
        """
        CREATE INDEX enrollment_signed_elsewhere ON enrollment (seq)
            WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended'
        """,
        "CREATE INDEX enrollment_by_marks ON enrollment (marks, seq) WHERE state <> 'ended'",
        """
        CREATE INDEX enrollment_key_to_remove ON enrollment (seq)
            WHERE key_removed = 0 AND state IN ('keyless', 'ended')
        """,
        "CREATE INDEX enrollment_unsealed ON enrollment (seq) WHERE seal IS NULL",
        // Under which what is personal of an enrollment is encrypted; an erasure destroys it. Not a column of the enrollment:
        // each change of that would write it to the log again.
        """
        CREATE TABLE data_key (
            enrollment_id TEXT COLLATE "C" PRIMARY KEY REFERENCES enrollment (id) ON DELETE CASCADE,
            sealed BYTEA NOT NULL
        )
        """,
        """
        CREATE TABLE key_tries (
            identity BYTEA PRIMARY KEY,
            failures BIGINT NOT NULL,
            blocked_until BIGINT,
            tries_seal BYTEA
        )
        """,
        // Rows that are held for what may have no row yet: a key's tries, and a name that is to be taken.
        "CREATE TABLE lock (digest BYTEA PRIMARY KEY)",
        """
        CREATE TABLE request (
            seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id TEXT COLLATE "C" NOT NULL UNIQUE,
            enrollment_id TEXT COLLATE "C" NOT NULL REFERENCES enrollment (id),
            jti TEXT COLLATE "C" NOT NULL,
            iat BIGINT,
            exp BIGINT,
            acs_trans_id TEXT COLLATE "C",
            members BYTEA,
            transaction_digest BYTEA,
            nonce BYTEA,
            warnings BYTEA,
            traceparent TEXT COLLATE "C",
            payment BYTEA,
            message TEXT COLLATE "C" NOT NULL,
            received_at BIGINT NOT NULL,
            decided_at BIGINT,
            state TEXT COLLATE "C" NOT NULL
                CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'cancelled', 'refused')),
            reason TEXT COLLATE "C",
            refusal TEXT COLLATE "C",
            delivery TEXT COLLATE "C" NOT NULL CHECK (delivery IN ('none', 'queued', 'delivered', 'failed')),
            trans_status TEXT COLLATE "C",
            delivery_failure TEXT COLLATE "C",
            delivery_error TEXT COLLATE "C",
            has_conflict BIGINT NOT NULL
        )
        """,
        // What the rows' locks see to, once more: a transaction is presented and decided once.
        """
        CREATE UNIQUE INDEX request_presented ON request (acs_trans_id, enrollment_id)
            WHERE members IS NOT NULL AND state IN ('pending', 'approved', 'denied')
        """,
        "CREATE INDEX request_by_jti ON request (jti)",
        "CREATE INDEX request_by_acs_trans_id ON request (acs_trans_id, enrollment_id, iat)",
        "CREATE INDEX request_by_enrollment ON request (enrollment_id, seq)",
        "CREATE INDEX request_pending ON request (enrollment_id, seq) WHERE state = 'pending'",
        "CREATE INDEX request_unpresented ON request (enrollment_id, received_at) WHERE members IS NULL",
        "CREATE INDEX request_pending_exp ON request (exp) WHERE state = 'pending'",
        "CREATE INDEX request_over ON request (received_at) WHERE state <> 'pending' AND delivery <> 'queued'",
        """
        CREATE INDEX request_unpacked ON request (seq)
            WHERE state <> 'pending' AND delivery <> 'queued' AND message <> ''
        """,
        """
        CREATE TABLE message (
            enrollment_id TEXT COLLATE "C" NOT NULL REFERENCES enrollment (id),
            jti TEXT COLLATE "C" NOT NULL,
            payload_digest BYTEA NOT NULL,
            request_id TEXT COLLATE "C",
            is_reused BIGINT NOT NULL DEFAULT 0,
            seen_at BIGINT NOT NULL,
            PRIMARY KEY (enrollment_id, jti)
        )
        """,
        "CREATE INDEX message_seen ON message (seen_at)",
        "CREATE INDEX message_of_enrollment ON message (enrollment_id, seen_at)",
        """
        CREATE TABLE message_tally (
            enrollment_id TEXT COLLATE "C" NOT NULL,
            slot BIGINT NOT NULL,
            messages BIGINT NOT NULL,
            PRIMARY KEY (enrollment_id, slot)
        )
        """,
        """
        CREATE FUNCTION count_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'INSERT' THEN
                INSERT INTO message_tally VALUES (NEW.enrollment_id, NEW.seen_at / \(DatabaseTransaction.messageSlot), 1)
                    ON CONFLICT (enrollment_id, slot) DO UPDATE SET messages = message_tally.messages + 1;
            ELSE
                UPDATE message_tally SET messages = messages - 1
                    WHERE enrollment_id = OLD.enrollment_id
                        AND slot = OLD.seen_at / \(DatabaseTransaction.messageSlot);
                DELETE FROM message_tally
                    WHERE enrollment_id = OLD.enrollment_id
                        AND slot = OLD.seen_at / \(DatabaseTransaction.messageSlot) AND messages <= 0;
            END IF;
            RETURN NULL;
        END $$
        """,
        """
        CREATE TRIGGER message_counted AFTER INSERT OR DELETE ON message
            FOR EACH ROW EXECUTE FUNCTION count_message()
        """,
        """
        CREATE TABLE cancellation (
            enrollment_id TEXT COLLATE "C" NOT NULL REFERENCES enrollment (id),
            cancels TEXT COLLATE "C" NOT NULL,
            until BIGINT NOT NULL,
            PRIMARY KEY (enrollment_id, cancels)
        )
        """,
        "CREATE INDEX cancellation_until ON cancellation (until)",
        """
        CREATE TABLE outbox (
            seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            enrollment_id TEXT COLLATE "C" NOT NULL REFERENCES enrollment (id),
            jti TEXT COLLATE "C" NOT NULL,
            request_id TEXT COLLATE "C",
            sign_count BIGINT,
            body BYTEA NOT NULL,
            exp BIGINT NOT NULL,
            traceparent TEXT COLLATE "C",
            last_error TEXT COLLATE "C",
            UNIQUE (enrollment_id, jti)
        )
        """,
        "CREATE INDEX outbox_lane ON outbox (enrollment_id, sign_count, seq)",
        """
        CREATE TABLE evidence (
            request_seq BIGINT PRIMARY KEY REFERENCES request (seq) ON DELETE CASCADE,
            issuer_key BYTEA,
            text TEXT COLLATE "C",
            decision BYTEA
        )
        """,
        "CREATE TABLE past_request (request_seq BIGINT PRIMARY KEY, content BYTEA NOT NULL)",
        "CREATE TABLE issuer_key (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key BYTEA NOT NULL UNIQUE)",
        """
        CREATE TABLE push_subscription (
            seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            enrollment_id TEXT COLLATE "C" NOT NULL REFERENCES enrollment (id) ON DELETE CASCADE,
            token_digest BYTEA NOT NULL UNIQUE,
            endpoint TEXT COLLATE "C" NOT NULL,
            sealed_key BYTEA NOT NULL,
            vapid_key BYTEA NOT NULL,
            is_registered BIGINT NOT NULL
        )
        """,
        "CREATE INDEX push_subscription_by_enrollment ON push_subscription (enrollment_id, seq)",
        """
        CREATE TABLE persona (
            enrollment_id TEXT COLLATE "C" PRIMARY KEY REFERENCES enrollment (id) ON DELETE CASCADE,
            document TEXT COLLATE "C" NOT NULL
        )
        """,
        """
        CREATE TABLE script (
            request_seq BIGINT PRIMARY KEY,
            rule TEXT COLLATE "C",
            document TEXT COLLATE "C" NOT NULL
        )
        """,
        "CREATE INDEX script_by_rule ON script (rule) WHERE rule IS NOT NULL",
        """
        CREATE TABLE test_clock (
            one BIGINT PRIMARY KEY CHECK (one = 1),
            "offset" BIGINT NOT NULL CHECK ("offset" >= 0)
        )
        """,
        // The journal: a chain for each host, with its own key.
        """
        CREATE TABLE journal (
            host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
            seq BIGINT NOT NULL,
            entry TEXT COLLATE "C" NOT NULL,
            PRIMARY KEY (host, seq)
        )
        """,
        """
        CREATE TABLE journal_mark (
            host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
            name TEXT COLLATE "C" NOT NULL CHECK (name IN ('head', 'floor')),
            seq BIGINT NOT NULL,
            digest BYTEA NOT NULL,
            signature BYTEA,
            PRIMARY KEY (host, name)
        ) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE audit_key (
            host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
            one BIGINT NOT NULL CHECK (one = 1),
            sealed BYTEA NOT NULL,
            PRIMARY KEY (host, one)
        )
        """,
        """
        CREATE TABLE journal_block (
            host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
            last BIGINT NOT NULL,
            first BIGINT NOT NULL,
            digest BYTEA NOT NULL,
            earlier BYTEA NOT NULL,
            signature BYTEA NOT NULL,
            entries BYTEA NOT NULL,
            PRIMARY KEY (host, last)
        )
        """,
        """
        CREATE TABLE journal_of_request (
            host TEXT COLLATE "C" NOT NULL,
            request_seq BIGINT NOT NULL,
            block BIGINT NOT NULL,
            PRIMARY KEY (request_seq, host, block)
        )
        """,
    ]
}
#endif
