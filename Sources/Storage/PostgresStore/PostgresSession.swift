#if PostgreSQL
import Keys
import Records
import StoreTables
import TableRows

/// A database transaction on a connection.
final class PostgresSession: StoreSession {
    private let connection: PostgresConnection
    private let host: HostName
    private var held: Set<HeldRow> = []
    /// Whether a savepoint's part is running.
    ///
    /// It does not wait for row locks.
    private var isInPart = false
    /// Whether a lock was queued that the server has not confirmed yet.
    private var isHolding = false
    /// Rows that were queried ahead, in the round trip of another statement.
    ///
    /// They are the journal's two marks and its newest entries, which saves a database transaction that writes three
    /// round trips. A decision then takes three in all (`make bench ONLY=hosts`).
    private var foreseen: [Question: [PostgresConnection.Row]] = [:]

    private struct Question: Hashable {
        let sql: String
        let values: [ColumnValue]
    }

    init(_ connection: PostgresConnection, host: HostName) {
        self.connection = connection
        self.host = host
    }

    var dialect: SQLDialect { .postgres }

    func execute(_ sql: String, _ values: StatementValues) throws {
        foreseen = [:]
        try connection.queue(sql, values)
    }

    func changes(_ sql: String, _ values: StatementValues) throws -> Int {
        foreseen = [:]
        let count = try connection.changes(sql, values.values)
        isHolding = false
        return count
    }

    func step(
        _ sql: String, _ values: StatementValues, atMost limit: Int, _ body: (any StatementRow) throws -> Void
    ) throws {
        let known =
            foreseen.isEmpty ? nil : foreseen.removeValue(forKey: Question(sql: sql, values: values.values))
        let rows = try known ?? connection.rows(sql, values)
        if known == nil { isHolding = false }
        for row in rows.prefix(limit) { try body(PostgresRow(values: row)) }
    }

    func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        try connection.queue("SAVEPOINT part")
        isInPart = true
        defer { isInPart = false }
        do {
            try part()
            if isHolding { _ = try connection.answers() }
        } catch let error as PostgresError where error.isLockNotAvailable {
            try undoPart()
            return RowHeldError()
        } catch  where !(error is PostgresError || error is UnreadableRowError) {
            try undoPart()
            return error
        }
        try connection.queue("RELEASE SAVEPOINT part")
        return nil
    }

    private func undoPart() throws {
        foreseen = [:]
        try connection.queue("ROLLBACK TO SAVEPOINT part")
        try connection.queue("RELEASE SAVEPOINT part")
        // The rollback has released the locks of the part.
        held = []
        isHolding = false
    }

    /// Does no work, because the beginning of the database transaction has written to the host's row.
    func touch() throws {}

    /// Queues the lock.
    ///
    /// A later statement sees all commits up to the moment at which the lock was granted.
    func lock(_ row: HeldRow) throws {
        guard held.insert(row).inserted else { return }
        isHolding = true
        switch row {
        case .enrollment(let id):
            try connection.queue("SELECT 1 FROM enrollment WHERE id = ? \(forUpdate)", [id.text])
        case .enrollmentOfRequest(let id):
            try connection.queue(
                """
                SELECT 1 FROM enrollment WHERE id = (SELECT enrollment_id FROM request WHERE id = ?) \(forUpdate)
                """, [id.text])
        case .keyTries(let key): try lockValue(Array("key ".utf8) + key.bytes)
        case .name(let name): try lockValue(Array("name ".utf8) + Array(name.utf8))
        }
    }

    /// Locks a value that may have no row yet, by an advisory lock on a number from its digest.
    ///
    /// The lock ends with the database transaction. Two values with the same number wait for each other, which is
    /// harmless.
    private func lockValue(_ bytes: [UInt8]) throws {
        let number = try SHA256Digest.of(bytes)[..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard isInPart else {
            return try connection.queue("SELECT 1 FROM pg_advisory_xact_lock(?)", [number])
        }
        let isHeld = try connection.rows("SELECT pg_try_advisory_xact_lock(?)", [number]).first?.first == .number(1)
        guard isHeld else { throw RowHeldError() }
    }

    private var forUpdate: String { isInPart ? "FOR UPDATE NOWAIT" : "FOR UPDATE" }

    // MARK: The database transaction

    /// Begins a database transaction that writes, and queries ahead the rows that it needs first.
    ///
    /// - Parameters:
    ///   - token: the value that the host's row has after this commit, until the next one.
    ///   - clocks: the clock guard, and this host's clocks when the write was wanted.
    ///   - questions: the queries to run ahead.
    /// - Returns: the database's clock, in seconds since 1970.
    /// - Throws: ``HostTakenError`` if another process has become this host, or if the host was shut out.
    ///   ``ClocksApartError``.
    func begin(
        incarnation: Int64, token: Int64, _ clocks: (guard: ClockGuard, wanted: ClockGuard.Reading?),
        asking questions: [(sql: String, values: StatementValues)]
    ) throws -> Int64 {
        try connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        try connection.queue(
            """
            UPDATE host SET last_write = ? WHERE name = ?
            RETURNING incarnation, \(PostgresServer.clock), set_config('oob_agent.host', name, TRUE)
            """,
            [token, host.text])
        for (sql, values) in questions { try connection.queue(sql, values) }
        let answers = try connection.answers()
            .suffix(questions.count + 1)
        guard answers.count == questions.count + 1, let row = answers.first?.rows.first, row.count == 3,
            case .number(let now) = row[1]
        else { throw HostTakenError(host: host) }
        guard row[0] == .number(incarnation) else { throw HostTakenError(host: host, incarnation: row[0]) }
        try clocks.guard.expectClose(now, since: clocks.wanted)
        for (question, answer) in zip(questions, answers.dropFirst()) {
            foreseen[Question(sql: question.sql, values: question.values.values)] = answer.rows
        }
        return now
    }

    /// Begins a database transaction that reads one snapshot.
    func beginReading() throws {
        try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Ends a database transaction that reads.
    ///
    /// Without a pooler, does not wait for the answer.
    func endReading() throws {
        // PgBouncer keeps the server connection assigned until the client has read the answer.
        if connection.isPooled {
            _ = try connection.rows("ROLLBACK")
            return
        }
        try connection.queue("ROLLBACK")
        try connection.flush()
    }

    func commit() throws(PostgresError) { _ = try connection.rows("COMMIT") }

    /// Rolls the database transaction back.
    ///
    /// A lost connection has done that already.
    func rollBack() {
        guard !connection.isBroken else { return }
        // Queued statements may fail for the same reason as the ones before.
        _ = try? connection.answers()
        _ = try? connection.rows("ROLLBACK")
    }
}

/// The error of a process that is not the host any more.
struct HostTakenError: Error {
    let host: HostName
    /// Whether a change of the secret or a move of the state has shut the host out.
    ///
    /// Else another process writes under the host's name.
    let isShutOut: Bool

    /// - Parameter incarnation: the current value in the host's row. Negative if the host was shut out.
    init(host: HostName, incarnation: ColumnValue? = nil) {
        self.host = host
        if case .number(let number)? = incarnation { isShutOut = number < 0 } else { isShutOut = false }
    }
}
#endif
