extension Schema {
    /// Who plays the cardholders of `test` enrollments, and what was to answer a request of theirs.
    ///
    /// What the documents say is the matter of personas alone. A row of `script` has no reference that goes with the
    /// request's row: that one is written anew when it is packed.
    static let personas = """
        CREATE TABLE persona (
            enrollment_id TEXT PRIMARY KEY REFERENCES enrollment (id) ON DELETE CASCADE,
            document TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE script (
            request_seq INTEGER PRIMARY KEY,
            rule TEXT,
            document TEXT NOT NULL
        ) STRICT;

        CREATE INDEX script_by_rule ON script (rule) WHERE rule IS NOT NULL;
        """
}
