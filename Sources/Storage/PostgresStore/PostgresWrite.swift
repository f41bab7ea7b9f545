#if PostgreSQL
import Glibc
import Records
import StoreTables
import TableRows

/// One database transaction that writes.
///
/// All of it is committed, or nothing of it happened, or the error says that neither is sure.
struct PostgresWrite {
    /// How often one is run that was undone for the sake of others.
    private static let maxRuns = 5

    let connection: PostgresConnection
    let host: HostName
    let incarnation: Int64
    let sealing: Sealing
    /// By what the host's clock is held against the database's, and what it said when the write was wanted.
    let clocks: (guard: ClockGuard, wanted: ClockGuard.Reading?)
    let tally: HostTally
    /// Makes another connection, to ask what became of a commit.
    let reopen: () throws -> PostgresConnection
    /// For how long that is asked.
    let patience: Duration
    /// What is not known of the commits before.
    let doubt: CommitDoubt
    /// Where the journal ended when something was committed last; nil before that.
    let head: Int64?
    /// Notes where it ends now.
    let noteHead: (Int64?) -> Void

    func run<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        for _ in 1..<Self.maxRuns {
            do {
                return try runOnce(body)
            } catch let error as PostgresError where error.isToBeRepeated || error.isDuplicate {
                // Another host's commit came first; what it has written is seen now.
                tally.note(\.repeatedWrites)
                continue
            } catch let error as PostgresError where error.isLockNotAvailable {
                tally.note(\.lockTimeouts)
                throw error
            }
        }
        return try runOnce(body)
    }

    private func runOnce<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        // What was in doubt may be there: before that is known, nothing can be held against what was written last.
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
            // The clock may have been set since the beginning, and something judged by it.
            try clocks.guard.check(begun, since: clocks.wanted)
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
            tally.note(\.commitsInDoubt)
            guard try isCommitted(commit, after: error) else { throw error }
        }
        commit.finish()
        return result
    }

    /// Finds out what became of a commit whose answer was lost, with connections of its own.
    ///
    /// - Throws: ``CommitInDoubtError`` if that could not be found out in time; then the next write has to.
    private func isCommitted(_ commit: OpenCommit, after loss: PostgresError) throws -> Bool {
        let end = ContinuousClock.now + patience
        repeat {
            if let other = try? reopen(), let isCommitted = try? isCommitted(commit, other) { return isCommitted }
            // It still runs, as its server has not noticed yet, or there is no server.
            usleep(Self.pause)
        } while .now < end
        doubt.commit = commit
        tally.note(\.unclearCommits)
        throw CommitInDoubtError(cause: loss)
    }

    private func settleEarlier() throws {
        guard let commit = doubt.commit else { return }
        guard let isCommitted = try isCommitted(commit, connection) else { throw CommitUnsettledError() }
        doubt.commit = nil
        if isCommitted { commit.finish() }
    }

    /// Nil while it still runs.
    ///
    /// Its own row tells, not its number (`pg_xact_status`): a server that crashes gives a number again that was not on
    /// its disk yet, and a standby that takes over may too.
    ///
    /// - Throws: ``HostTakenError`` if another process has become this host and has written since.
    private func isCommitted(_ commit: OpenCommit, _ connection: PostgresConnection) throws -> Bool? {
        let rows: [PostgresConnection.Row]
        do {
            // The database transaction holds the row for as long as it runs.
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

    /// Microseconds between two looks.
    private static let pause: UInt32 = 50_000
}

/// A commit, and what is to be done once it is known that it was made.
struct OpenCommit {
    /// What the host's row has if it was made.
    let token: Int64
    let finish: () -> Void
}

/// The commit of which nobody could say what became of it; nil if there is none.
///
/// Unchecked: only the thread that writes touches it.
final class CommitDoubt: @unchecked Sendable {
    var commit: OpenCommit?
}

/// The connection was lost while a database transaction was committed, and nobody could say whether it was.
struct CommitInDoubtError: Error {
    let cause: PostgresError
}

/// Nothing is written, as it is still not known what became of the commit before.
struct CommitUnsettledError: Error {}
#endif
