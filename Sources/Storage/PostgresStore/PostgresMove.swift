#if PostgreSQL
import Records
package import StoreTables
import TableRows

/// Moves a state from elsewhere into an empty database.
package struct PostgresMove {
    private let settings: PostgresSettings
    private let host: PostgresHost
    /// The place of the source, for the error of a host that starts before the move is complete.
    private let origin: String

    /// - Parameter host: the host that gets the journal chain.
    package init(_ settings: PostgresSettings, host: PostgresHost, from origin: String) {
        self.settings = settings.ofMove
        self.host = host
        self.origin = origin
    }

    /// Copies in one database transaction.
    ///
    /// First removes the rows of an earlier move that was not concluded. Afterwards no host can enter before
    /// ``PostgresStore/admitHosts()``.
    ///
    /// - Throws: ``PostgresMoveError``, `StoreError`, or an error of `copy`. The database transaction is then rolled
    ///   back.
    package func receive<Result>(_ copy: (any StoreSession) throws -> Result) throws -> Result {
        do {
            let connection = try settings.connection()
            try PostgresServer.expectFit(connection, ClockGuard(nil))
            try PostgresSchema.prepare(connection, for: host.name)
            let session = PostgresSession(connection, host: host.name)
            do {
                _ = try connection.rows("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
                _ = try connection.rows("LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE")
                try makeRoom(connection)
                _ = try connection.rows("INSERT INTO moved_state (one, direction, place) VALUES (1, 'in', ?)", [origin])
                _ = try host.claim(connection, seals: [], opens: [])
                try host.release(connection, 1)
                let result = try copy(session)
                try session.commit()
                return result
            } catch {
                session.rollBack()
                throw error
            }
        } catch {
            throw StoreError.naming(error, settings.place)
        }
    }

    private func makeRoom(_ connection: PostgresConnection) throws {
        switch try MovedState.of(connection) {
        case .unfinished?: try connection.queue("TRUNCATE \(PostgresSchema.filled.joined(separator: ", ")) CASCADE")
        case .gone(let place)?: throw PostgresMoveError.gone(to: place)
        case nil: break
        }
        for table in PostgresSchema.filled {
            guard try connection.rows("SELECT 1 FROM \(table) LIMIT 1").isEmpty else {
                throw PostgresMoveError.notEmpty(table: table)
            }
        }
    }
}

extension PostgresSettings {
    /// Settings for a move: an answer may take 600 s, and the agent sets no statement or idle limit.
    ///
    /// A long statement blocks nobody, because no host uses the database.
    package var ofMove: PostgresSettings {
        var settings = self
        settings.limits.statement = nil
        settings.limits.idleInTransaction = nil
        settings.limits.answer = .seconds(600)
        return settings
    }
}

/// The mark of a database whose state was moved in or away.
enum MovedState: Equatable {
    /// A copy from this place was not concluded.
    case unfinished(from: String)
    case gone(to: String)

    static func of(_ connection: PostgresConnection) throws -> MovedState? {
        guard let row = try connection.rows("SELECT direction, place FROM moved_state").first, row.count == 2,
            case .text(let direction) = row[0], case .text(let place) = row[1]
        else { return nil }
        return direction == "in" ? .unfinished(from: place) : .gone(to: place)
    }
}

/// The reason why a database cannot be used for a move or by a host.
///
/// The database is unchanged.
package enum PostgresMoveError: Error, Equatable, CustomStringConvertible {
    case notEmpty(table: String)
    case unfinished(from: String)
    case gone(to: String)
    case othersRun([String])
    case startedMeanwhile

    package var description: String {
        switch self {
        case .notEmpty(let table):
            "the database is not empty, its table \(table) has rows: a state is moved into one of its own"
        case .unfinished(let origin):
            "a state is being moved into the database from \(origin), or that was cut short: run that oob-agent "
                + "--migrate-to again"
        case .gone(let place): "the state in the database was moved to \(place): start the agent on that one"
        case .othersRun(let hosts):
            "its state cannot be moved while other hosts run: stop \(hosts.joined(separator: ", ")) (one that was killed "
                + "counts as running until its lease is over, usually 15 seconds)"
        case .startedMeanwhile: "a host has started on the database meanwhile: stop it, and move the state again"
        }
    }
}
#endif
