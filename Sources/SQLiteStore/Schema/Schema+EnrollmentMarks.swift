extension Schema {
    /// An index of what is weak about enrollments, and one of what a start has to clear up.
    ///
    /// So those that have a mark are counted and found without looking at the rows.
    static let enrollmentMarks = """
        CREATE INDEX enrollment_by_marks ON enrollment (\(marks), seq) WHERE state <> 'ended';
        CREATE INDEX enrollment_key_to_remove ON enrollment (seq)
            WHERE key_removed = 0 AND state IN ('keyless', 'ended');
        """

    /// A bit for each of the core's marks, by its raw value.
    ///
    /// SQLite uses the index for exactly this expression. It is no column: `VACUUM INTO` fails for a generated one.
    static let marks = """
        ((sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere <> 0)
        | ((sign_count_raised_at IS NOT NULL AND sign_count_raised_elsewhere = 0) << 1)
        | ((authn_type = 'test') << 2)
        | ((pin_guessable <> 0) << 3)
        | ((key_uri IS NOT NULL AND key_kind IS NOT 'file' AND key_exportable IS NOT NULL AND key_exportable <> 0) << 4)
        | ((key_uri IS NOT NULL AND key_kind IS NOT 'file' AND key_exportable IS NULL) << 5)
        | ((key_uri IS NULL OR key_kind IS 'file') << 6)
        | ((substr(issuer, 1, 5) = 'http:') << 7))
        """
}
