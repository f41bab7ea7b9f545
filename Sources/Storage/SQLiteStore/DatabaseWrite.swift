import GRDB
import Records
import StoreTables
import TableRows

/// One database transaction that writes.
///
/// All of it is durable, or nothing of it happened, or the error says that neither is sure.
struct DatabaseWrite {
    let database: Database
    let path: String
    let sealing: Sealing

    /// - Throws: what `body` throws; `StoreError` if it could not be committed.
    func run<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
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

    /// Makes sure that nothing is left of a commit that failed; false if that cannot be.
    ///
    /// One whose fsync fails is rolled back for everyone who looks, but the write-ahead log may hold all of it:
    /// recovery after a crash would take it for committed. The next commit writes over it, so one is made at once.
    private func isUndone() -> Bool {
        (try? commit { try $0.touch() }) != nil
    }
}

extension DatabaseError {
    /// Whether the log may hold all of a commit that failed so; it does not if its last write failed.
    fileprivate var leavesCommitOpen: Bool {
        switch extendedResultCode {
        case .SQLITE_FULL, .SQLITE_IOERR_WRITE, .SQLITE_BUSY: false
        default: true
        }
    }
}
