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

/// What a database transaction that writes holds while it does.
package enum HeldRow: Hashable {
    case enrollment(EnrollmentID)
    /// The enrollment of a request.
    case enrollmentOfRequest(RequestID)
    /// The tries of a key's PIN, also if there is no row of them.
    case keyTries(KeyIdentity)
    /// The name of an enrollment that is to be made.
    case name(String)
}

/// One database transaction's view of the store.
package struct DatabaseTransaction: StoreWriter {
    let database: any StoreSession
    let sealing: Sealing
    /// Nil if it only reads: then another database transaction may have committed since this one began.
    let written: Written?
    /// Whose chain of the journal it has; nil if the store has one chain.
    let host: HostName?
    let dataKeys = SeenDataKeys()

    package init(
        database: any StoreSession, sealing: Sealing, written: Written? = nil, host: HostName? = nil
    ) {
        self.database = database
        self.sealing = sealing
        self.written = written
        self.host = host
    }

    /// Holds what is about to be looked at, if this database transaction writes.
    func hold(_ row: HeldRow) throws {
        guard written != nil else { return }
        try database.hold(row)
    }

    func hold(_ enrollment: EnrollmentID) throws { try hold(.enrollment(enrollment)) }

    // A host's name has no character that SQL would take for something else, so statements can name it.

    /// A condition on the host whose chain it is, and `AND`; empty if the store has one chain.
    func ofHost(_ column: String = "host") -> String { host.map { "\(column) = '\($0.text)' AND " } ?? "" }
    /// The column of the host, for a list of columns that goes on; empty if the store has one chain.
    var hostColumn: String { host == nil ? "" : "host, " }
    /// Its value, for the list of values.
    var hostValue: String { host.map { "'\($0.text)', " } ?? "" }

    /// The least version that a row has by now, as far as this process knows; nil if it does not, or only reads.
    ///
    /// Whoever reads may see what was there before the newest commit; whoever writes sees that.
    func leastVersion(of row: SealedRow) -> RowVersion? {
        guard let written else { return nil }
        return written.state.versions[row] ?? sealing.seen[row]
    }

    package func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        let before = written?.state
        let failure = try database.undoing(part)
        if let before, failure != nil { written?.state = before }
        return failure
    }

    package func touch() throws { try database.touch() }

    package func afterCommit(_ action: @escaping @Sendable () -> Void) { written?.state.actions.append(action) }
}
