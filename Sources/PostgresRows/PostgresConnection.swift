#if PostgreSQL
import CPostgres
import Glibc
package import TableRows

/// One connection to a PostgreSQL server, for one thread at a time.
///
/// Statements are sent without waiting (libpq's pipeline mode) until an answer is wanted: a database transaction takes as
/// many round trips as it has looks, and one for its end. Every wait has a deadline, also for a server that is frozen;
/// after one the connection is lost.
@safe
package final class PostgresConnection {
    /// What a statement gave.
    package struct Answer: Sendable {
        package let rows: [PostgresRow]
        /// How many rows it has changed; 0 if it changes none.
        package let changes: Int
    }

    private enum Sent {
        case preparation(sql: String)
        case statement
    }

    /// The most statements that are kept parsed; the program has fewer.
    private static let maxPrepared = 500

    private let connection: OpaquePointer
    /// Milliseconds that an answer may take.
    private let patience: Int64
    /// The names of statements that the server has parsed, by their text.
    private var prepared: [String: String] = [:]
    private var names = 0
    private var sent: [Sent] = []
    /// Why it is of no use any more; nil while it is.
    package private(set) var loss: PostgresError?
    /// How many times an answer was waited for.
    package private(set) var roundTrips = 0

    /// Connects, within `patience` milliseconds.
    ///
    /// - Parameter settings: libpq's connection parameters (PostgreSQL's manual, 34.1.2).
    package init(_ settings: [String: String], patience: Int64) throws(PostgresError) {
        let names = settings.keys.sorted()
        let opened = unsafe PostgresStrings.withPointers(names) { names in
            unsafe PostgresStrings.withPointers(settings.sorted { $0.key < $1.key }.map(\.value)) { values in
                unsafe PQconnectStartParams(names, values, 0)
            }
        }
        guard let opened = unsafe opened else {
            throw PostgresError("there is no memory for a connection", isLost: true)
        }
        unsafe connection = opened
        self.patience = patience
        // Notices are for people at a terminal.
        unsafe PQsetNoticeReceiver(opened, { _, _ in }, nil)
        try connect(by: Self.now() + patience)
        guard unsafe PQsetnonblocking(opened, 1) == 0, unsafe PQenterPipelineMode(opened) == 1 else { throw lost() }
    }

    deinit { unsafe PQfinish(connection) }

    /// Sends a statement; what is wrong with it is said when an answer is wanted.
    package func queue(_ sql: String, _ values: StatementValues = []) throws(PostgresError) {
        if let loss { throw loss }
        let name = try prepare(sql)
        let isSent = unsafe PostgresParameters(values.values).withPointers { count, pointers, lengths, formats in
            unsafe PQsendQueryPrepared(connection, name, count, pointers, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        sent.append(.statement)
    }

    /// Waits for the answers of all that was sent, in one round trip.
    ///
    /// - Throws: the first error; what was sent after the statement that it is about did not happen.
    package func answers() throws(PostgresError) -> [Answer] {
        if let loss { throw loss }
        guard unsafe PQpipelineSync(connection) == 1 else { throw lost() }
        let deadline = Self.now() + patience
        roundTrips += 1
        var answers: [Answer] = []
        var problem: PostgresError?
        for each in sent {
            guard let result = unsafe try result(by: deadline) else { throw lost() }
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                guard case .statement = each else { break }
                do {
                    answers.append(Answer(rows: unsafe try rows(of: result), changes: unsafe changes(of: result)))
                } catch {
                    problem = problem ?? error
                }
            default:
                // One that was not parsed is none.
                if case .preparation(let sql) = each { prepared[sql] = nil }
                guard unsafe PQresultStatus(result) != PGRES_PIPELINE_ABORTED else { break }
                problem = unsafe problem ?? self.problem(of: result)
            }
            // A statement's results end with none.
            while let more = unsafe try self.result(by: deadline) { unsafe PQclear(more) }
        }
        sent = []
        guard let end = unsafe try result(by: deadline) else { throw lost() }
        unsafe PQclear(end)
        if let problem { throw problem }
        return answers
    }

    /// Sends a statement, and waits for its answer and for those of all that was sent before.
    package func answer(_ sql: String, _ values: StatementValues = []) throws(PostgresError) -> Answer {
        try queue(sql, values)
        guard let last = try answers().last else { throw lost() }
        return last
    }

    private func connect(by deadline: Int64) throws(PostgresError) {
        // As PQconnectPoll wants it: as if the first call had said that it wants to write.
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED, unsafe PQstatus(connection) != CONNECTION_BAD else { throw lost() }
            try wait(for: next == PGRES_POLLING_READING ? POLLIN : POLLOUT, by: deadline)
            next = unsafe PQconnectPoll(connection)
        }
    }

    /// The name under which the server has a statement, or will have it once it has read what is sent.
    private func prepare(_ sql: String) throws(PostgresError) -> String {
        if let name = prepared[sql] { return name }
        let name = prepared.count < Self.maxPrepared ? "s\(names)" : ""
        names += 1
        guard unsafe PQsendPrepare(connection, name, PostgresPlaceholders.numbered(sql), 0, nil) == 1 else {
            throw lost()
        }
        sent.append(.preparation(sql: sql))
        if !name.isEmpty { prepared[sql] = name }
        return name
    }

    /// The next result; nil at the end of a statement's.
    private func result(by deadline: Int64) throws(PostgresError) -> OpaquePointer? {
        while true {
            let isFlushed = unsafe PQflush(connection)
            guard isFlushed >= 0 else { throw lost() }
            guard unsafe PQisBusy(connection) == 1 else { return unsafe PQgetResult(connection) }
            try wait(for: POLLIN | (isFlushed == 1 ? POLLOUT : 0), by: deadline)
            guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    private func wait(for events: Int32, by deadline: Int64) throws(PostgresError) {
        while true {
            let left = deadline - Self.now()
            guard left > 0 else { throw lost("the server did not answer within \(patience) ms") }
            var waiting = pollfd(fd: unsafe PQsocket(connection), events: Int16(truncatingIfNeeded: events), revents: 0)
            if unsafe poll(&waiting, 1, Int32(clamping: left)) > 0 { return }
        }
    }

    private func rows(of result: OpaquePointer) throws(PostgresError) -> [PostgresRow] {
        let columns = unsafe PQnfields(result)
        var rows: [PostgresRow] = []
        for row in 0..<(unsafe PQntuples(result)) {
            var values: [ColumnValue?] = []
            for column in 0..<columns {
                guard unsafe PQgetisnull(result, row, column) == 0 else {
                    values.append(.some(.null))
                    continue
                }
                let content = unsafe UnsafeRawBufferPointer(
                    start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
                unsafe values.append(ColumnValue(type: PQftype(result, column), content))
            }
            rows.append(PostgresRow(values: values))
        }
        return rows
    }

    private func changes(of result: OpaquePointer) -> Int {
        unsafe PQcmdTuples(result).flatMap { unsafe Int(String(cString: $0)) } ?? 0
    }

    private func problem(of result: OpaquePointer) -> PostgresError {
        func field(_ code: Unicode.Scalar) -> String? {
            unsafe PQresultErrorField(result, Int32(code.value)).map { unsafe String(cString: $0) }
        }
        // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY: the detail may hold values of a row.
        return PostgresError(state: field("C"), field("M") ?? "the server refused a statement")
    }

    /// Notes that the connection is of no use any more.
    private func lost(_ reason: String? = nil) -> PostgresError {
        let lines = unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
        let words = lines.split(separator: "\n").joined(separator: "; ")
        let error = PostgresError(reason ?? (words.isEmpty ? "the connection is lost" : words), isLost: true)
        loss = loss ?? error
        return error
    }

    /// Milliseconds of a clock that nobody sets.
    private static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Texts as libpq takes them.
enum PostgresStrings {
    /// A list of strings with a null at its end, for the time of `body`.
    static func withPointers<Result>(
        _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        var (bytes, places): ([CChar], [Int]) = ([], [])
        for string in strings {
            places.append(bytes.count)
            bytes += string.utf8CString
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe body(places.map { unsafe buffer.baseAddress?.advanced(by: $0) } + [nil])
        }
    }
}
#endif
