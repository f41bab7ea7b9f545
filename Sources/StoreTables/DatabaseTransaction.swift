import Authenticator
package import TableRows

/// A connection to the store's database, within a database transaction.
package protocol StoreSession: StatementSession {
    /// Runs a part of the database transaction; if it fails, what it has written is undone, and the rest stands.
    ///
    /// - Returns: why it failed; nil if it did not.
    /// - Throws: if it is the database that failed: then the whole database transaction has.
    func undoing(_ part: () throws -> Void) throws -> (any Error)?
    /// Writes, and changes nothing: fails if a change would.
    func touch() throws
    /// Runs an action after the commit; not at all if undone.
    func afterCommit(_ action: @escaping @Sendable () -> Void)
}

/// One database transaction's view of the store.
package struct DatabaseTransaction: StoreWriter {
    let database: any StoreSession
    let sealing: Sealing
    /// Nil if it only reads: then another database transaction may have committed since this one began.
    let written: Written?

    package init(database: any StoreSession, sealing: Sealing, written: Written? = nil) {
        self.database = database
        self.sealing = sealing
        self.written = written
    }

    /// Whether a row has the seal that it was written with last, as far as this process knows; empty: it is not there.
    ///
    /// Whoever reads may see what was there before the newest commit; whoever writes sees that.
    func isNewest(_ seal: [UInt8], of row: SealedRow) -> Bool {
        guard let written, let newest = written.state.seals[row] ?? sealing.committed[row] else { return true }
        return seal == newest
    }

    package func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        let before = written?.state
        let failure = try database.undoing(part)
        if let before, failure != nil { written?.state = before }
        return failure
    }

    package func touch() throws { try database.touch() }

    package func afterCommit(_ action: @escaping @Sendable () -> Void) { database.afterCommit(action) }
}
