package import Records
import TableRows

/// The queries of one database transaction.
///
/// Every list has a limit, and every query uses an index.
package class StoreReading {
    let database: any StoreSession
    let sealing: Sealing
    /// The state of a database transaction that writes, or `nil` if it only reads.
    ///
    /// While it reads, other database transactions may commit.
    let written: Written?
    /// The host whose journal chain this database transaction uses, or `nil` if the store has one chain.
    let host: HostName?
    let dataKeys = SeenDataKeys()

    /// - Parameter written: `nil` if the database transaction only reads.
    fileprivate init(_ database: any StoreSession, _ sealing: Sealing, _ written: Written?, _ host: HostName?) {
        self.database = database
        self.sealing = sealing
        self.written = written
        self.host = host
    }

    package convenience init(database: any StoreSession, sealing: Sealing, host: HostName? = nil) {
        self.init(database, sealing, nil, host)
    }

    /// Locks a row before it is read, if this database transaction writes.
    func lock(_ row: HeldRow) throws {
        guard written != nil else { return }
        try database.lock(row)
    }

    func lock(_ enrollment: EnrollmentID) throws { try lock(.enrollment(enrollment)) }

    // Statements may contain a host's name as a literal, because it has no character that SQL would interpret.

    /// A condition on the host, followed by `AND`.
    ///
    /// Empty if the store has one chain.
    func ofHost(_ column: String = "host") -> String { host.map { "\(column) = '\($0.text)' AND " } ?? "" }

    /// The `host` column and a comma, for a list of columns.
    ///
    /// Empty if the store has one chain.
    var hostColumn: String { host == nil ? "" : "host, " }

    /// The value of the `host` column and a comma, for a list of values.
    ///
    /// Empty if the store has one chain.
    var hostValue: String { host.map { "'\($0.text)', " } ?? "" }

    /// The oldest version that the row can have by now, as far as this process knows.
    ///
    /// `nil` if the process does not know one, or if the database transaction only reads. Reads may see a state from
    /// before the newest commits; writes never do.
    func leastVersion(of row: SealedRow) -> RowVersion? {
        guard let written else { return nil }
        return written.state.versions[row] ?? sealing.seen[row]
    }
}

/// A database transaction that writes.
///
/// Rows that it has locked and read do not change until its end.
package final class StoreTransaction: StoreReading {
    package init(database: any StoreSession, sealing: Sealing, written: Written, host: HostName? = nil) {
        super.init(database, sealing, written, host)
    }

    /// Runs a part of the database transaction as a savepoint.
    ///
    /// If it fails, only its own writes are undone. The part does not wait for a row lock of another database
    /// transaction, which may itself wait for a row of this one.
    ///
    /// - Returns: the error of the part, such as ``RowHeldError``. `nil` if the part succeeded.
    /// - Throws: an error of the store. The whole database transaction has then failed.
    package func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        let before = written?.state
        let failure = try database.undoing(part)
        if let before, failure != nil { written?.state = before }
        return failure
    }

    /// Runs a write that changes no data.
    ///
    /// Fails if a real write would fail.
    package func touch() throws { try database.touch() }

    /// Runs an action after the commit and before the next database transaction.
    ///
    /// Not run if the part is undone.
    package func afterCommit(_ action: @escaping @Sendable () -> Void) { written?.state.actions.append(action) }
}
