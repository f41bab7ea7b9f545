#if PostgreSQL
import Authenticator
import Glibc
import PostgresRows
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
    /// Makes another connection, to ask what became of a commit.
    let reopen: () throws -> PostgresConnection
    /// Milliseconds for which that is asked.
    let patience: Int
    /// Where the journal ended when something was committed last; nil before that.
    let head: Int64?
    /// Notes where it ends now.
    let noteHead: (Int64?) -> Void

    func run<T>(_ body: (DatabaseTransaction) throws -> T) throws -> T {
        for run in 1... {
            do {
                return try runOnce(body)
            } catch let error as PostgresError where error.isToBeRepeated && run < Self.maxRuns {
                continue
            }
        }
        throw PostgresError("a database transaction was undone \(Self.maxRuns) times for the sake of others")
    }

    private func runOnce<T>(_ body: (DatabaseTransaction) throws -> T) throws -> T {
        let session = PostgresSession(connection, host: host)
        let transaction = DatabaseTransaction(database: session, sealing: sealing, written: Written(), host: host)
        let result: T
        let number: Int64
        do {
            number = try session.begin(
                incarnation: incarnation, asking: transaction.openingQuestions(head: head))
            result = try body(transaction)
            try transaction.writeMarks()
        } catch {
            session.rollBack()
            throw error
        }
        do {
            try session.commit()
        } catch {
            session.rollBack()
            guard error.isLost else { throw error }
            try settle(number, error)
        }
        noteHead(transaction.headSeen)
        for action in session.actions { action() }
        return result
    }

    /// Finds out what became of a commit whose answer was lost.
    ///
    /// - Throws: the error if it did not happen; ``CommitInDoubtError`` if nobody can say.
    private func settle(_ number: Int64, _ error: PostgresError) throws {
        let tries = max(1, patience / Self.pause)
        for _ in 0..<tries {
            switch try? status(of: number) {
            case "committed": return
            case "aborted": throw error
            default: break  // It still runs, as its server has not noticed yet, or there is no server.
            }
            usleep(UInt32(Self.pause) * 1_000)
        }
        throw CommitInDoubtError(cause: error)
    }

    /// Milliseconds between two looks.
    private static let pause = 50

    private func status(of number: Int64) throws -> String? {
        let answer = try reopen().answer("SELECT pg_xact_status(CAST(CAST(? AS TEXT) AS XID8))", ["\(number)"])
        guard case .text(let status) = answer.rows.first?[0] else { return nil }
        return status
    }
}

/// The connection was lost while a database transaction was committed, and nobody could say whether it was.
struct CommitInDoubtError: Error {
    let cause: PostgresError
}
#endif
