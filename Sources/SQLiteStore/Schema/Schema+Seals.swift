extension Schema {
    /// What vouches for an enrollment's row, and the newest entry of the journal when it was written; null until the agent
    /// seals what was there before.
    static let seals = """
        ALTER TABLE enrollment ADD COLUMN seal BLOB;
        ALTER TABLE enrollment ADD COLUMN journal_seq INTEGER NOT NULL DEFAULT 0;
        """
}
