extension Schema {
    /// What came for an enrollment within a day is counted, however much came before.
    static let messagesADay = "CREATE INDEX message_of_enrollment ON message (enrollment_id, seen_at)"
}

extension Schema {
    /// What of a request is kept only for a dispute; it goes with the request.
    static let evidence = """
        CREATE TABLE evidence (
            request_seq INTEGER PRIMARY KEY REFERENCES request (seq) ON DELETE CASCADE,
            issuer_key BLOB,
            text TEXT,
            decision BLOB
        ) STRICT
        """
}

extension Schema {
    /// What issuers said of decisions: why one could not be delivered, and which signCount was refused.
    ///
    /// - `refused_sign_count`: null unless an assertion with this signCount was refused, or this is a copy, and the
    ///   issuer has not said since which signCount it accepted.
    static let issuersWords = """
        ALTER TABLE request ADD COLUMN delivery_error TEXT;
        ALTER TABLE outbox ADD COLUMN last_error TEXT;
        ALTER TABLE enrollment ADD COLUMN refused_sign_count INTEGER;
        """
}

extension Schema {
    /// Wrong PINs of keys that the agent did not make, by a digest of which key that is; they outlive enrollments.
    ///
    /// An enrollment from before counts in its own columns until its key is identified at the next PIN.
    static let keyTries = """
        CREATE TABLE key_tries (
            identity BLOB PRIMARY KEY,
            failures INTEGER NOT NULL,
            blocked_until INTEGER
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE enrollment ADD COLUMN key_identity BLOB;
        """
}

extension Schema {
    /// Push subscriptions: the endpoint as the issuer has it, and what opens its messages, sealed.
    static let push = """
        CREATE TABLE push_subscription (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            enrollment_id TEXT NOT NULL REFERENCES enrollment (id) ON DELETE CASCADE,
            token_digest BLOB NOT NULL UNIQUE,
            endpoint TEXT NOT NULL,
            sealed_key BLOB NOT NULL,
            vapid_key BLOB NOT NULL,
            is_registered INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX push_subscription_by_enrollment ON push_subscription (enrollment_id, seq);

        ALTER TABLE enrollment ADD COLUMN takes_push INTEGER NOT NULL DEFAULT 1;
        """
}

extension Schema {
    /// The seal of an enrollment's row, and the journal's newest entry when it was written.
    ///
    /// Null until the agent seals what was there before.
    static let seals = """
        ALTER TABLE enrollment ADD COLUMN seal BLOB;
        ALTER TABLE enrollment ADD COLUMN journal_seq INTEGER NOT NULL DEFAULT 0;
        """
}
