#if PostgreSQL
package import StoreTables
import TableRows

/// How often each host had started when a state began to be moved away: if one starts after it, that shows.
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

/// Moving a state away, by one host while no other runs.
extension PostgresStore {
    /// Sees that no other host runs; one that is frozen, and wakes later, writes nothing any more.
    ///
    /// - Throws: ``PostgresMoveError/othersRun(_:)``; `StoreError`.
    package func expectAlone() async throws -> HostStarts {
        let own = hostName
        return try await alone { connection in
            let running = try connection.runningHosts(besides: own)
            guard running.isEmpty else { throw PostgresMoveError.othersRun(running) }
            try connection.shutOutHosts(besides: own)
            return try HostStarts(connection)
        }
    }

    /// Marks the state as moved away: no host starts on it any more.
    ///
    /// - Throws: ``PostgresMoveError/startedMeanwhile`` if a host has started since; then nothing was changed.
    package func markMoved(to place: String, since starts: HostStarts) async throws {
        try await alone { connection in
            guard try HostStarts(connection) == starts else { throw PostgresMoveError.startedMeanwhile }
            _ = try connection.rows("INSERT INTO moved_state (one, direction, place) VALUES (1, 'out', ?)", [place])
        }
    }

    /// Reads all as of one moment.
    package func withSession<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreSession) throws -> Result
    ) async throws -> Result {
        let host = hostName
        return try await naming {
            try await run { connection in
                try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
                    try body(PostgresSession(connection, host: host))
                }
            }
        }
    }

    /// Runs a database transaction during which no host starts.
    private func alone<Result: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Result
    ) async throws -> Result {
        try await naming {
            try await run { connection in
                try connection.transaction {
                    _ = try connection.rows("LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE")
                    return try body(connection)
                }
            }
        }
    }
}
#endif
