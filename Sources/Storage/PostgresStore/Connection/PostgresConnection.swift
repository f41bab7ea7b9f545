#if PostgreSQL
import CPostgres
package import TableRows

/// A connection to a PostgreSQL server, for one thread at a time.
///
/// Statements are sent without waiting (libpq's pipeline mode) until a result is needed. So a database transaction
/// takes one round trip for each query and one for its end: the 16 statements of a decision take 3 (`make bench
/// ONLY=hosts`). Every wait has a deadline, also if the server is frozen. At the deadline the connection is closed.
///
/// The statements that are sent together form one pipeline. An error is thrown when the answers are read. The
/// statements after the failed one are not run. The ones before it are rolled back too, unless the pipeline contains
/// the end of their database transaction. A database transaction that was begun stays open, and accepts only ROLLBACK.
@safe package final class PostgresConnection {
    /// A row: the values in the order of the columns.
    package typealias Row = [ColumnValue]

    /// The result of a statement.
    package struct Answer: Sendable, Equatable {
        package let rows: [Row]
        /// The number of rows that were changed or selected.
        package let count: Int
    }

    /// An item of the pipeline, in the order of the results.
    enum Sent {
        /// A request to prepare a statement.
        case preparation(KnownStatement)
        case statement(KnownStatement)
    }

    /// Whether a pooler is in between that assigns a server connection for one database transaction at a time.
    ///
    /// PgBouncer does so with `pool_mode = transaction`.
    package let isPooled: Bool
    /// The statement that sets the limits of one database transaction, for connections without settings of their own.
    private let localSettings: String
    /// The limit for the answers of one pipeline.
    package var answerTimeout: Duration

    // `nil` once the connection is lost.
    private(set) var pointer: OpaquePointer?  // <PGconn>
    private var known: KnownStatements
    private var sent: [Sent] = []

    /// Takes ownership of an established connection: the caller must not free it.
    init(
        takingOwnershipOf pointer: OpaquePointer, _ limits: PostgresLimits, isPooled: Bool
    ) throws(PostgresError) {
        unsafe self.pointer = unsafe pointer
        self.isPooled = isPooled
        localSettings = limits.ofTransaction
        answerTimeout = limits.answer
        // Behind a pooler, the next server connection does not know prepared statements of this one.
        known = KnownStatements(limit: isPooled ? 0 : limits.keptStatements)
        guard unsafe PQsetnonblocking(pointer, 1) == 0, unsafe PQenterPipelineMode(pointer) == 1 else {
            throw lost()
        }
    }

    deinit { close() }

    /// Whether this connection is lost.
    ///
    /// If it was lost during a commit, that commit may have happened or not.
    package var isBroken: Bool { unsafe pointer == nil }

    /// Whether an idle connection was closed by the server, and is therefore lost.
    package var isClosedByServer: Bool {
        guard let pointer = unsafe pointer else { return true }
        // Up to three pieces of input may be pending: unread answers, the server's last message, and the end of the
        // stream.
        for _ in 0..<3 where unsafe Deadline.canBeRead(PQsocket(pointer)) {
            guard unsafe PQconsumeInput(pointer) == 1, unsafe PQstatus(pointer) == CONNECTION_OK else {
                close()
                return true
            }
        }
        return false
    }

    /// The PID of the server process of this connection, for `pg_terminate_backend`.
    package var serverProcess: Int32 {
        guard let pointer = unsafe pointer else { return 0 }
        return unsafe PQbackendPID(pointer)
    }

    /// The number of prepared statements of this connection.
    package var keptStatements: Int { known.kept }

    /// Closes the connection.
    ///
    /// An open database transaction is rolled back.
    package func close() {
        guard let pointer = unsafe pointer else { return }
        // This does not wait: the socket is non-blocking, and the server notices that it is closed.
        unsafe PQfinish(pointer)
        unsafe self.pointer = nil
    }

    /// Sends a statement without waiting.
    ///
    /// Its error is thrown when the answers are read.
    ///
    /// - Parameters:
    ///   - sql: one statement, with SQLite's placeholders (`Placeholders`).
    ///   - values: the values of ?1 and so on. The server infers their types.
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

    /// Begins a database transaction, with the limits that a connection without a pooler already has.
    ///
    /// - Parameter sql: the statement that begins it. Behind a pooler, a second statement sets the limits.
    package func begin(_ sql: String) throws(PostgresError) {
        try queue(sql)
        if isPooled { try queue(localSettings) }
    }

    /// Makes the server run the queued statements now.
    ///
    /// Their answers are read with the next ones.
    package func flush() throws(PostgresError) {
        guard let pointer = unsafe pointer else { throw Self.closed }
        // The rest of a full socket buffer is sent with the next statements.
        guard unsafe PQsendFlushRequest(pointer) == 1, unsafe PQflush(pointer) >= 0 else { throw lost() }
    }

    /// Sends a statement, and waits for its rows and for all queued statements before it.
    package func rows(_ sql: String, _ values: [ColumnValue] = []) throws(PostgresError) -> [Row] {
        try queue(sql, values)
        return try answers().last?.rows ?? []
    }

    /// Sends a statement, and waits for it and for all queued statements before it.
    ///
    /// - Returns: the number of changed rows.
    @discardableResult
    package func changes(_ sql: String, _ values: [ColumnValue] = []) throws(PostgresError) -> Int {
        try queue(sql, values)
        return try answers().last?.count ?? 0
    }

    /// Waits for all queued statements: one round trip, or none if the queue is empty.
    ///
    /// - Returns: the result of each statement.
    /// - Throws: the first error, in the order of the statements. For its effect, see ``PostgresConnection``.
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
                // The server sends the reason before it closes a connection.
                guard !isBroken else { throw (problem ?? error).withLostConnection }
            }
        }
        do throws(PostgresError) { try endPipeline(by: deadline) } catch { throw (problem ?? error).withLostConnection }
        if let problem { throw problem }
        return answers
    }
}

extension PostgresConnection {
    /// Prepares a statement and returns its name.
    ///
    /// Returns `nil` if the statement is not to be prepared.
    private func prepare(_ statement: KnownStatement) throws(PostgresError) -> String? {
        if let name = statement.name { return name }
        guard let name = known.name(statement), let pointer = unsafe pointer else { return nil }
        guard unsafe PQsendPrepare(pointer, name, statement.text, 0, nil) == 1 else { throw lost() }
        sent.append(.preparation(statement))
        return name
    }

    /// Forgets the name of a prepared statement that the server does not know or no longer accepts.
    private func forget(_ each: Sent, after error: PostgresError) {
        switch each {
        case .preparation(let statement): known.removeName(of: statement)
        case .statement(let statement) where error.isStatementStale: known.removeName(of: statement)
        case .statement: break
        }
    }

    /// Reads one result, and the end of its statement's results.
    ///
    /// - Returns: `nil` for a preparation, which gives the caller no result.
    private func answer(to each: Sent, by deadline: Deadline) throws(PostgresError) -> Answer? {
        guard let result = try result(by: deadline) else { throw lost() }
        let answer: Answer?
        switch result.status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            // Read the remaining results even if a row cannot be decoded.
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

    /// The next result, or `nil` at the end of a statement's results.
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
            // With TLS, the rest of a record may be in the TLS buffer if libpq had room for a part only. The socket is
            // then not readable, so read twice.
            for _ in 0..<(unsafe PQsslInUse(pointer) == 1 ? 2 : 1) {
                guard unsafe PQconsumeInput(pointer) == 1 else { throw lost() }
            }
        }
    }

    /// Closes the connection, and returns the reason why it is lost.
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
