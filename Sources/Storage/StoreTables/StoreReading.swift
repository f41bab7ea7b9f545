package import Records
import TableRows

/// The look-ups of one database transaction.
///
/// Every list has a limit; every look-up goes by an index.
package class StoreReading {
    let database: any StoreSession
    let sealing: Sealing
    /// Nil if it only reads: then another database transaction may have committed since this one began.
    let written: Written?
    /// Whose chain of the journal it has; nil if the store has one chain.
    let host: HostName?
    let dataKeys = SeenDataKeys()

    /// - Parameter written: nil if the database transaction only reads.
    fileprivate init(_ database: any StoreSession, _ sealing: Sealing, _ written: Written?, _ host: HostName?) {
        self.database = database
        self.sealing = sealing
        self.written = written
        self.host = host
    }

    package convenience init(database: any StoreSession, sealing: Sealing, host: HostName? = nil) {
        self.init(database, sealing, nil, host)
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
}

/// A database transaction that writes: what it looks at in order to write stays so until its end.
package final class StoreTransaction: StoreReading {
    package init(database: any StoreSession, sealing: Sealing, written: Written, host: HostName? = nil) {
        super.init(database, sealing, written, host)
    }

    /// Runs a part of the database transaction; if it fails, what it has written is undone, and the rest stands.
    ///
    /// It waits for no row that another database transaction holds: that one may wait for a row of this one.
    ///
    /// - Returns: why it failed; nil if it did not; ``RowHeldError``.
    /// - Throws: if it is the store that failed: then the whole database transaction has.
    package func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        let before = written?.state
        let failure = try database.undoing(part)
        if let before, failure != nil { written?.state = before }
        return failure
    }

    /// Writes, and changes nothing: fails if a change would.
    package func touch() throws { try database.touch() }

    /// Runs an action after the commit, before the next database transaction; not at all if undone.
    package func afterCommit(_ action: @escaping @Sendable () -> Void) { written?.state.actions.append(action) }
}
