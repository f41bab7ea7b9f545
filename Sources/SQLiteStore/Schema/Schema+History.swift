import StoreTables

extension Schema {
    /// How many messages of each enrollment came within each slot of time, kept by the database itself.
    ///
    /// A slot has `DatabaseTransaction.messageSlot` seconds. One without a message has no row.
    static let messageTally = """
        CREATE TABLE message_tally (
            enrollment_id TEXT NOT NULL,
            slot INTEGER NOT NULL,
            messages INTEGER NOT NULL,
            PRIMARY KEY (enrollment_id, slot)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO message_tally
            SELECT enrollment_id, seen_at / \(messageSlot), COUNT(*) FROM message GROUP BY 1, 2;

        CREATE TRIGGER message_counted AFTER INSERT ON message BEGIN
            INSERT INTO message_tally VALUES (NEW.enrollment_id, NEW.seen_at / \(messageSlot), 1)
                ON CONFLICT DO UPDATE SET messages = messages + 1;
        END;
        CREATE TRIGGER message_uncounted AFTER DELETE ON message BEGIN
            UPDATE message_tally SET messages = messages - 1
                WHERE enrollment_id = OLD.enrollment_id AND slot = OLD.seen_at / \(messageSlot);
            DELETE FROM message_tally
                WHERE enrollment_id = OLD.enrollment_id AND slot = OLD.seen_at / \(messageSlot) AND messages <= 0;
        END;
        """

    private static let messageSlot = DatabaseTransaction.messageSlot
}

extension Schema {
    /// Enrollments are found by what is asked of them, however many there are; each index is small if few are.
    static let enrollmentLookUps = """
        CREATE INDEX enrollment_by_name ON enrollment (name);
        CREATE INDEX enrollment_by_state ON enrollment (state, seq) WHERE state <> 'ended';
        CREATE INDEX enrollment_of_external_key ON enrollment (seq) WHERE key_uri IS NOT NULL AND state <> 'ended';
        CREATE INDEX enrollment_signed_elsewhere ON enrollment (seq)
            WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended';
        """
}
