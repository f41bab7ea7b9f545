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
    /// For how long that is asked.
    let patience: Duration
    /// Where the journal ended when something was committed last; nil before that.
    let head: Int64?
    /// Notes where it ends now.
    let noteHead: (Int64?) -> Void

    func run<T>(_ body: (DatabaseTransaction) throws -> T) throws -> T {
        for _ in 1..<Self.maxRuns {
            do {
                return try runOnce(body)
            } catch let error as PostgresError where error.isToBeRepeated || error.isDuplicate {
                // Another host's commit came first; what it has written is seen now.
                continue
            }
        }
        return try runOnce(body)
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
            guard error.isConnectionLost else { throw error }
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
        for _ in 0..<max(1, patience.components.seconds * 1_000 / Self.pause) {
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
    private static let pause: Int64 = 50

    private func status(of number: Int64) throws -> String? {
        let rows = try reopen().rows("SELECT pg_xact_status(CAST(CAST(? AS TEXT) AS XID8))", [.text("\(number)")])
        guard case .text(let status) = rows.first?.first else { return nil }
        return status
    }
}

/// The connection was lost while a database transaction was committed, and nobody could say whether it was.
struct CommitInDoubtError: Error {
    let cause: PostgresError
}
#endif
