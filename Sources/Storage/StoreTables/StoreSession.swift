package import Records
package import TableRows

/// A connection to the store's database, inside a database transaction.
package protocol StoreSession: StatementSession {
    /// Runs a part of the database transaction as a savepoint.
    ///
    /// If it fails, only its own writes are undone. The part does not wait for a row lock of another database
    /// transaction.
    ///
    /// - Returns: the error of the part, such as `RowHeldError`. `nil` if the part succeeded.
    /// - Throws: an error of the database. The whole database transaction has then failed.
    func undoing(_ part: () throws -> Void) throws -> (any Error)?
    /// Runs a write that changes no data.
    ///
    /// Fails if a real write would fail.
    func touch() throws
    /// Locks a row, so that no other database transaction changes its enrollment until this one ends.
    ///
    /// Lock a row before each read that a write depends on; the row then stays as read. SQLite does not need the lock,
    /// because it has one writer at a time.
    func lock(_ held: HeldRow) throws
}

/// A row that a database transaction locks until its end.
package enum HeldRow: Hashable {
    case enrollment(EnrollmentID)
    /// The enrollment of a request.
    case enrollmentOfRequest(RequestID)
    /// The PIN tries of a key.
    ///
    /// The lock also works before the key has a row.
    case keyTries(KeyIdentity)
    /// The name of an enrollment that is about to be created.
    case name(String)
}
