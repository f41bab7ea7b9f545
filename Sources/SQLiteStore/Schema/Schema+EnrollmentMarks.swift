import StoreTables
import TableRows

extension Schema {
    /// An index of what is weak about enrollments, and one of what a start has to clear up.
    ///
    /// So those that have a mark are counted and found without looking at the rows.
    static let enrollmentMarks = """
        CREATE INDEX enrollment_by_marks ON enrollment (\(SQLDialect.sqlite.enrollmentMarks), seq) WHERE state <> 'ended';
        CREATE INDEX enrollment_key_to_remove ON enrollment (seq)
            WHERE key_removed = 0 AND state IN ('keyless', 'ended');
        """
}
