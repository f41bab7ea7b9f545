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
