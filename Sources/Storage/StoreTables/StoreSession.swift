package import Records
package import TableRows

/// A connection to the store's database, within a database transaction.
package protocol StoreSession: StatementSession {
    /// Runs a part of the database transaction; if it fails, what it has written is undone, and the rest stands.
    ///
    /// It waits for no row that another database transaction holds.
    ///
    /// - Returns: why it failed; nil if it did not; `RowHeldError`.
    /// - Throws: if it is the database that failed: then the whole database transaction has.
    func undoing(_ part: () throws -> Void) throws -> (any Error)?
    /// Writes, and changes nothing: fails if a change would.
    func touch() throws
    /// Keeps other database transactions from changing anything of an enrollment until the end of this one.
    ///
    /// It comes before every look that something is written by: what is seen then stays so. Nothing for SQLite, which
    /// has one writer at a time.
    func hold(_ held: HeldRow) throws
}

/// A row that a database transaction locks until its end.
package enum HeldRow: Hashable {
    case enrollment(EnrollmentID)
    /// The enrollment of a request.
    case enrollmentOfRequest(RequestID)
    /// The tries of a key's PIN, also if there is no row of them.
    case keyTries(KeyIdentity)
    /// The name of an enrollment that is to be made.
    case name(String)
}
