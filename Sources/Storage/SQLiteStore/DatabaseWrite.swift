import GRDB
import Records
import StoreTables
import TableRows

/// A database transaction that writes.
///
/// All of it is durable, or none of it, or the error says that the outcome is in doubt.
struct DatabaseWrite {
    let database: Database
    let path: String
    let sealing: Sealing

    /// - Throws: an error of `body`, or `StoreError` if the commit failed.
    func perform<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        var isWhole = false
        do {
            return try commit { writer in
                let result = try body(writer)
                isWhole = true
                return result
            }
        } catch let error as DatabaseError {
            guard let trouble = StoreError(error, at: path) else { throw error }
            guard isWhole && error.leavesCommitOpen && !isUndone() else { throw trouble }
            throw trouble.inDoubt
        }
    }

    private func commit<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        var results: [T] = []
        let written = Written()
        try database.inTransaction {
            let transaction = StoreTransaction(database: database, sealing: sealing, written: written)
            results.append(try body(transaction))
            try transaction.vouchForRows()
            return .commit
        }
        sealing.conclude(written)
        return results[0]
    }

    /// Makes sure that a failed commit leaves no trace.
    ///
    /// Returns false if that is not possible. A commit whose fsync fails is rolled back for all readers, but the
    /// write-ahead log may contain all of it. After a crash, recovery would treat it as committed. The next commit
    /// overwrites it, so this makes one at once.
    private func isUndone() -> Bool {
        (try? commit { try $0.touch() }) != nil
    }
}

extension DatabaseError {
    /// Whether a commit that failed with this error may be complete in the log.
    ///
    /// Not if its last write failed.
    fileprivate var leavesCommitOpen: Bool {
        switch extendedResultCode {
        case .SQLITE_FULL, .SQLITE_IOERR_WRITE, .SQLITE_BUSY: false
        default: true
        }
    }
}
