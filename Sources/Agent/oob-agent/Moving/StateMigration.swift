#if PostgreSQL
import AgentHost
import Custody
import FoundationEssentials
import LineLog
import PostgresStore
import SQLiteBackup
import SQLiteStore
import StoreTables

/// The move of a state from a SQLite file into a PostgreSQL database.
///
/// The steps are: copy the state, verify the copy, mark the file as moved, and only then admit hosts to the database.
/// After an interruption, at most one of the two can be started, and the same command resumes.
struct StateMigration {
    let move: StateMoveSettings

    private var target: DatabaseSettings { move.database }

    func move() async throws {
        guard FileManager.default.fileExists(atPath: move.file), StateFiles.tidy(move.directory) else {
            throw StartError(.noInput, "there is no state of an agent in \(move.directory)")
        }
        if let place = try SQLiteDatabase.movedPlace(of: move.file) {
            guard place == target.place else { throw StartError(.dataError, "the state was moved to \(place) already") }
            // The move was interrupted after the mark, or is complete. The database shows which.
            return try await conclude(marking: nil)
        }
        let store = try SQLiteDatabase(
            path: move.file, scratch: move.scratch, seals: move.seals, dataKeys: move.dataKeys)
        try await move.expectWhole(store, "the state here")
        do {
            _ = try PostgresMove(target.settings, host: move.host, from: move.directory).receive { session in
                try store.withSession { source in
                    try StateMove(
                        from: source, of: nil, to: session, of: move.host.name, seals: move.seals,
                        dataKeys: move.dataKeys
                    ).move()
                }
            }
        } catch let error as PostgresMoveError {
            throw StartError(.cannotCreate, "\(target.place): \(error)")
        } catch let error as StateMoveError {
            throw StartError(.dataError, "nothing was moved: \(error)")
        }
        try await conclude(marking: store)
        try store.close()
    }

    /// - Parameter store: the store to mark as moved. `nil` if it is marked already.
    private func conclude(marking store: SQLiteDatabase?) async throws {
        let moved: PostgresStore
        do {
            moved = try PostgresStore(
                target.settings, host: move.host, seals: move.seals,
                dataKeys: move.dataKeys, clock: SystemClock(), secrets: move.hostSecrets,
                mayEnterUnfinished: true)
        } catch let error as PostgresMoveError {
            throw StartError(.dataError, "\(target.place): \(error)")
        }
        let count = try await move.expectWhole(moved, "the copy in \(target.place)")
        try store?.markMoved(to: target.place)
        try await moved.admitHosts()
        try moved.close()
        StandardStream.error.write(
            """
            Moved to \(target.place): \(count) enrollments, with their keys and all that the agent keeps.
            Next, start the agent with --database and --host-name \(move.host.name), and with the same secret. No agent starts on \
            \(move.directory) without --database any more; what it holds is still there.

            """)
    }
}
#endif
