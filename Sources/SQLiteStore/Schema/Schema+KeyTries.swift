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
