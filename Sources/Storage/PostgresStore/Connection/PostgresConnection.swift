#if PostgreSQL
import CPostgres
package import TableRows

/// One connection to a PostgreSQL server, for one thread at a time.
///
/// Statements are sent without waiting (libpq's pipeline mode) until an answer is wanted, so a database transaction takes
/// as many round trips as it has looks, and one for its end: the 16 statements of a decision take 3
/// (`make bench ONLY=hosts`). Every wait has a deadline, also for a server that is frozen;
/// after it the connection is lost.
///
/// What is sent together is one pipeline. An error in it is thrown when answers are waited for; what was sent behind the
/// error did not happen, and what was before it is undone too, unless the pipeline holds the end of its database
/// transaction. If a database transaction was begun, it is still there and takes nothing but ROLLBACK.
@safe package final class PostgresConnection {
    /// One row, by the place of its columns.
    package typealias Row = [ColumnValue]

    /// What a statement has given.
    package struct Answer: Sendable, Equatable {
        package let rows: [Row]
        /// How many rows it has changed, or selected.
        package let count: Int
    }

    /// What was sent, in the order of its results.
    enum Sent {
        /// A statement's text was parsed, to be kept.
        case preparation(KnownStatement)
        case statement(KnownStatement)
    }

    /// Whether a pooler is between this and the server, which gives a connection to the server for one database
    /// transaction at a time (PgBouncer's `pool_mode = transaction`).
    package let isPooled: Bool
    /// What limits a database transaction where a connection has no settings of its own.
    private let localSettings: String
    /// How long the answers to what was sent together may take.
    package var answerTimeout: Duration

    // Nil when the connection is lost.
    private(set) var pointer: OpaquePointer?  // <PGconn>
    private var known: KnownStatements
    private var sent: [Sent] = []

    /// Takes ownership of a connection that is established: the caller must not free it.
    init(
        takingOwnershipOf pointer: OpaquePointer, _ limits: PostgresLimits, isPooled: Bool
    ) throws(PostgresError) {
        unsafe self.pointer = unsafe pointer
        self.isPooled = isPooled
        localSettings = limits.ofTransaction
        answerTimeout = limits.answer
        // What one server's connection has parsed the next one does not know.
        known = KnownStatements(limit: isPooled ? 0 : limits.keptStatements)
        guard unsafe PQsetnonblocking(pointer, 1) == 0, unsafe PQenterPipelineMode(pointer) == 1 else {
            throw lost()
        }
    }

    deinit { close() }

    /// Whether the connection can be used no more.
    ///
    /// What it was committing when it was lost may have happened or not.
    package var isBroken: Bool { unsafe pointer == nil }

    /// Whether the server has ended the connection while nothing was asked; then it cannot be used any more.
    package var isClosedByServer: Bool {
        guard let pointer = unsafe pointer else { return true }
        // Answers that nobody has read, what it says before it goes, and that it is gone: each a piece of its own.
        for _ in 0..<3 where unsafe Deadline.canBeRead(PQsocket(pointer)) {
            guard unsafe PQconsumeInput(pointer) == 1, unsafe PQstatus(pointer) == CONNECTION_OK else {
                close()
                return true
            }
        }
        return false
    }

    /// The process of the server that serves this connection, for `pg_terminate_backend`.
    package var serverProcess: Int32 {
        guard let pointer = unsafe pointer else { return 0 }
        return unsafe PQbackendPID(pointer)
    }

    /// How many statements the server keeps parsed for this connection.
    package var keptStatements: Int { known.kept }

    /// Closes the connection; what was not committed is undone.
    package func close() {
        guard let pointer = unsafe pointer else { return }
        // Does not wait: the socket is non-blocking, and the server sees that it is closed.
        unsafe PQfinish(pointer)
        unsafe self.pointer = nil
    }

    /// Sends a statement without waiting; what is wrong with it is said when answers are waited for.
    ///
    /// - Parameters:
    ///   - sql: one statement, with SQLite's placeholders (`Placeholders`).
    ///   - values: of ?1 and so on. The server finds their types.
    package func queue(_ sql: String, _ values: [ColumnValue] = []) throws(PostgresError) {
        guard let pointer = unsafe pointer else { throw Self.closed }
        guard values.count <= Placeholders.limit else {
            throw PostgresError(message: "a statement has more than \(Placeholders.limit) values")
        }
        guard values.allSatisfy({ $0.size <= ColumnValue.largest }) else {
            throw PostgresError(message: "a value has more than \(ColumnValue.largest) bytes")
        }
        let statement = try known.statement(sql)
        let name = try prepare(statement)
        let isSent = unsafe CArrays.withParameters(values) { contents, lengths, formats in
            let count = Int32(values.count)
            return if let name {
                unsafe PQsendQueryPrepared(pointer, name, count, contents, lengths, formats, 1)
            } else {
                unsafe PQsendQueryParams(pointer, statement.text, count, nil, contents, lengths, formats, 1)
            }
        }
        guard isSent == 1 else { throw lost() }
        sent.append(.statement(statement))
    }

    /// Begins a database transaction, with the limits that a server's own connection would have anyway.
    ///
    /// - Parameter sql: the statement that begins it. Behind a pooler another one is sent after it.
    package func begin(_ sql: String) throws(PostgresError) {
        try queue(sql)
        if isPooled { try queue(localSettings) }
    }

    /// Has the server begin with what was queued, whose answers come with the next ones.
    package func flush() throws(PostgresError) {
        guard let pointer = unsafe pointer else { throw Self.closed }
        // What the socket does not take now goes with what is sent next.
        guard unsafe PQsendFlushRequest(pointer) == 1, unsafe PQflush(pointer) >= 0 else { throw lost() }
    }

    /// Sends a statement and waits for its rows, and for all that was queued before.
    package func rows(_ sql: String, _ values: [ColumnValue] = []) throws(PostgresError) -> [Row] {
        try queue(sql, values)
        return try answers().last?.rows ?? []
    }

    /// Sends a statement and waits until it is done, and for all that was queued before.
    ///
    /// - Returns: how many rows it has changed.
    @discardableResult
    package func changes(_ sql: String, _ values: [ColumnValue] = []) throws(PostgresError) -> Int {
        try queue(sql, values)
        return try answers().last?.count ?? 0
    }

    /// Waits for all that was queued: one round trip, or none if nothing was.
    ///
    /// - Returns: what each statement has given.
    /// - Throws: the first error in the order of the statements; see above for what then happened.
    package func answers() throws(PostgresError) -> [Answer] {
        guard let pointer = unsafe pointer else { throw Self.closed }
        guard !sent.isEmpty else { return [] }
        defer { sent = [] }
        guard unsafe PQpipelineSync(pointer) == 1 else { throw lost() }
        let deadline = Deadline(in: answerTimeout)
        var answers: [Answer] = []
        var problem: PostgresError?
        for each in sent {
            do throws(PostgresError) {
                if let answer = try answer(to: each, by: deadline) { answers.append(answer) }
            } catch {
                forget(each, after: error)
                problem = problem ?? error
                // The server says why it ends a connection, and then ends it.
                guard !isBroken else { throw (problem ?? error).withLostConnection }
            }
        }
        do throws(PostgresError) { try endPipeline(by: deadline) } catch { throw (problem ?? error).withLostConnection }
        if let problem { throw problem }
        return answers
    }
}

extension PostgresConnection {
    /// The name under which a statement is parsed; nil if it is not kept.
    private func prepare(_ statement: KnownStatement) throws(PostgresError) -> String? {
        if let name = statement.name { return name }
        guard let name = known.name(statement), let pointer = unsafe pointer else { return nil }
        guard unsafe PQsendPrepare(pointer, name, statement.text, 0, nil) == 1 else { throw lost() }
        sent.append(.preparation(statement))
        return name
    }

    /// Lets go of a statement's name if the server does not know it, or no longer takes it.
    private func forget(_ each: Sent, after error: PostgresError) {
        switch each {
        case .preparation(let statement): known.removeName(of: statement)
        case .statement(let statement) where error.isStatementStale: known.removeName(of: statement)
        case .statement: break
        }
    }

    /// Waits for one result and the end of its statement's.
    ///
    /// - Returns: nil for what gives nothing to the caller.
    private func answer(to each: Sent, by deadline: Deadline) throws(PostgresError) -> Answer? {
        guard let result = try result(by: deadline) else { throw lost() }
        let answer: Answer?
        switch result.status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            // The rest is read whatever is in the rows.
            let rows = Result { () throws(PostgresError) in try result.rows }
            try skipResults(by: deadline)
            answer = Answer(rows: try rows.get(), count: result.count)
        case PGRES_PIPELINE_ABORTED:
            try skipResults(by: deadline)
            throw Self.aborted
        default:
            let problem = result.problem
            do throws(PostgresError) { try skipResults(by: deadline) } catch { throw problem.withLostConnection }
            throw problem
        }
        if case .preparation = each { return nil }
        return answer
    }

    private func skipResults(by deadline: Deadline) throws(PostgresError) {
        while let more = try result(by: deadline) {
            guard more.status != PGRES_PIPELINE_SYNC else { throw lost() }
        }
    }

    private func endPipeline(by deadline: Deadline) throws(PostgresError) {
        guard let end = try result(by: deadline), end.status == PGRES_PIPELINE_SYNC else { throw lost() }
    }

    /// The next result; nil at the end of a statement's.
    private func result(by deadline: Deadline) throws(PostgresError) -> PostgresResult? {
        while true {
            guard let pointer = unsafe pointer else { throw Self.closed }
            let unsent = unsafe PQflush(pointer)
            guard unsent >= 0 else { throw lost() }
            if unsafe PQisBusy(pointer) == 0 {
                let result = unsafe PQgetResult(pointer)
                if let result = unsafe result { return unsafe PostgresResult(takingOwnershipOf: result) }
                guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw lost() }
                return nil
            }
            guard unsafe deadline.wait(for: PQsocket(pointer), toRead: true, toWrite: unsent == 1) else {
                close()
                throw PostgresError(message: "the server did not answer in time", isConnectionLost: true)
            }
            // TLS may hold the rest of a record of which libpq has room for a part only, and the socket says nothing of it.
            for _ in 0..<(unsafe PQsslInUse(pointer) == 1 ? 2 : 1) {
                guard unsafe PQconsumeInput(pointer) == 1 else { throw lost() }
            }
        }
    }

    /// Closes the connection, and says why it is lost.
    private func lost() -> PostgresError {
        guard let pointer = unsafe pointer else { return Self.closed }
        let message = unsafe PostgresResult.line(PQerrorMessage(pointer))
        close()
        return PostgresError(message: message, isConnectionLost: true)
    }

    private static var closed: PostgresError {
        PostgresError(message: "the connection is closed", isConnectionLost: true)
    }

    private static var aborted: PostgresError { PostgresError(message: "a statement before it has failed") }
}
#endif
