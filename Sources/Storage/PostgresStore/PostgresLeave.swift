#if PostgreSQL
package import StoreTables
import TableRows

/// The incarnation of each host at the beginning of a move.
///
/// A later comparison shows whether a host has started.
package struct HostStarts: Sendable, Equatable {
    fileprivate let incarnations: [String: Int64]

    fileprivate init(_ connection: PostgresConnection) throws {
        let rows = try connection.rows("SELECT name, incarnation FROM host").compactMap { row -> (String, Int64)? in
            guard row.count == 2, case .text(let name) = row[0], case .number(let incarnation) = row[1] else {
                return nil
            }
            return (name, incarnation)
        }
        incarnations = Dictionary(rows) { first, _ in first }
    }
}

/// Moving a state away, by one host while all others are stopped.
extension PostgresStore {
    /// Verifies that no other host runs, and revokes the others' right to write, in case one is frozen and wakes up.
    ///
    /// - Throws: ``PostgresMoveError/othersRun(_:)``, or `StoreError`.
    package func expectAlone() async throws -> HostStarts {
        let own = hostName
        return try await alone { connection in
            let running = try connection.runningHosts(besides: own)
            guard running.isEmpty else { throw PostgresMoveError.othersRun(running) }
            try connection.shutOutHosts(besides: own)
            return try HostStarts(connection)
        }
    }

    /// Marks the state as moved away, so that no host starts on it.
    ///
    /// - Throws: ``PostgresMoveError/startedMeanwhile`` if a host has started since. The database is then unchanged.
    package func markMoved(to place: String, since starts: HostStarts) async throws {
        try await alone { connection in
            guard try HostStarts(connection) == starts else { throw PostgresMoveError.startedMeanwhile }
            _ = try connection.rows("INSERT INTO moved_state (one, direction, place) VALUES (1, 'out', ?)", [place])
        }
    }

    /// Runs `body` in a read-only database transaction that sees one snapshot.
    package func withSession<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreSession) throws -> Result
    ) async throws -> Result {
        let host = hostName
        return try await naming {
            try await withConnection { connection in
                try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
                    try body(PostgresSession(connection, host: host))
                }
            }
        }
    }

    /// Runs a database transaction during which no host can start.
    private func alone<Result: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Result
    ) async throws -> Result {
        try await naming {
            try await withConnection { connection in
                try connection.transaction {
                    _ = try connection.rows("LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE")
                    return try body(connection)
                }
            }
        }
    }
}
#endif
