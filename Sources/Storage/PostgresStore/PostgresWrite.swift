#if PostgreSQL
import Glibc
import Records
import StoreTables
import TableRows

/// A database transaction that writes.
///
/// All of it is committed, or none of it, or the error says that the outcome is in doubt.
struct PostgresWrite {
    /// The most runs of a database transaction that conflicts with others.
    private static let maxRuns = 5

    let connection: PostgresConnection
    let host: HostName
    let incarnation: Int64
    let sealing: Sealing
    /// The clock guard, and this host's clocks when the write was wanted.
    let clocks: (guard: ClockGuard, wanted: ClockGuard.Reading?)
    let tally: HostTally
    /// Opens another connection, to find out the outcome of a commit.
    let reopen: () throws -> PostgresConnection
    /// The time limit for that.
    let patience: Duration
    /// The earlier commit whose outcome is unknown.
    let doubt: CommitDoubt
    /// The end of the journal at the last commit, or `nil` before the first.
    let head: Int64?
    /// Records the end of the journal after this commit.
    let noteHead: (Int64?) -> Void

    func perform<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        for _ in 1..<Self.maxRuns {
            do {
                return try runOnce(body)
            } catch let error as PostgresError where error.isToBeRepeated || error.isDuplicate {
                // Another host's commit came first. The next run sees what it has written.
                tally.count(\.repeatedWrites)
                continue
            } catch let error as PostgresError where error.isLockNotAvailable {
                tally.count(\.lockTimeouts)
                throw error
            }
        }
        return try runOnce(body)
    }

    private func runOnce<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        // Settle a commit in doubt first: until then the newest row versions are unknown, so rows cannot be compared
        // with them.
        try settleEarlier()
        let session = PostgresSession(connection, host: host)
        let written = Written()
        let transaction = StoreTransaction(database: session, sealing: sealing, written: written, host: host)
        let token = Int64.random(in: .min ... .max)
        let result: T
        do {
            let begun = try session.begin(
                incarnation: incarnation, token: token, clocks, asking: transaction.openingQuestions(head: head))
            result = try body(transaction)
            try transaction.vouchForRows()
            // The clock may have been set since the beginning, and a decision may rest on it.
            try clocks.guard.expectClose(begun, since: clocks.wanted)
        } catch {
            session.rollBack()
            throw error
        }
        let commit = OpenCommit(token: token) {
            noteHead(transaction.headSeen)
            sealing.conclude(written)
        }
        do {
            try session.commit()
        } catch {
            session.rollBack()
            guard error.isConnectionLost else { throw error }
            tally.count(\.commitsInDoubt)
            guard try isCommitted(commit, after: error) else { throw error }
        }
        commit.finish()
        return result
    }

    /// Finds out the outcome of a commit whose answer was lost, on new connections.
    ///
    /// - Throws: ``CommitInDoubtError`` if the time limit is reached. The next write then has to find it out.
    private func isCommitted(_ commit: OpenCommit, after loss: PostgresError) throws -> Bool {
        let end = ContinuousClock.now + patience
        repeat {
            if let other = try? reopen(), let isCommitted = try? isCommitted(commit, other) { return isCommitted }
            // The database transaction still runs, because its server has not noticed the loss, or the server is down.
            usleep(Self.pause)
        } while .now < end
        doubt.commit = commit
        tally.count(\.unclearCommits)
        throw CommitInDoubtError(cause: loss)
    }

    private func settleEarlier() throws {
        guard let commit = doubt.commit else { return }
        guard let isCommitted = try isCommitted(commit, connection) else { throw CommitUnsettledError() }
        doubt.commit = nil
        if isCommitted { commit.finish() }
    }

    /// Whether a commit was made, or `nil` while its database transaction still runs.
    ///
    /// The token in the host's row shows it, not the number of the database transaction (`pg_xact_status`). After a
    /// crash, a server may reuse a number that was not on its disk yet, and so may a promoted standby.
    ///
    /// - Throws: ``HostTakenError`` if another process has become this host and has written since.
    private func isCommitted(_ commit: OpenCommit, _ connection: PostgresConnection) throws -> Bool? {
        let rows: [PostgresConnection.Row]
        do {
            // A database transaction that still runs has locked the row.
            rows = try connection.rows(
                "SELECT last_write, incarnation FROM host WHERE name = ? FOR UPDATE", [host.text])
        } catch  where error.isLockNotAvailable {
            return nil
        }
        if rows.first?.first == .number(commit.token) { return true }
        let newest = rows.first?.last
        guard newest == .number(incarnation) else { throw HostTakenError(host: host, incarnation: newest) }
        return false
    }

    /// The pause between two attempts, in microseconds.
    private static let pause: UInt32 = 50_000
}

/// A commit with an open outcome, and the work to do once it is known to be made.
struct OpenCommit {
    /// The value that the host's row has if the commit was made.
    let token: Int64
    let finish: () -> Void
}

/// The commit that is still in doubt, or `nil` if there is none.
///
/// Unchecked, because only the writing thread uses it.
final class CommitDoubt: @unchecked Sendable {
    var commit: OpenCommit?
}

/// The connection was lost during a commit, and its outcome could not be found out.
struct CommitInDoubtError: Error {
    let cause: PostgresError
}

/// Refuses a write, because the outcome of the commit before is still unknown.
struct CommitUnsettledError: Error {}
#endif
