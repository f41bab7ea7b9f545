import Custody
import Keys
import SQLiteStore

#if PostgreSQL
import PostgresStore
#endif

extension AgentProcess {
    /// Moves the state of stopped agents into an empty PostgreSQL database, or from one into a SQLite file.
    ///
    /// It copies the state and verifies the copy before an agent can start on it. After that, no agent starts on the
    /// old state.
    ///
    /// If a move is cut short, run it again. Until then an agent starts on at most one of the two.
    func migrate(to place: String, _ source: SettingSource, _ scratch: Scratch) async throws {
        #if PostgreSQL
        let isReturn = settings.database != nil
        guard isReturn == (place == Self.sqlite) else {
            throw StartError(
                .usage,
                isReturn
                    ? "--migrate-to: must be \(Self.sqlite) for a state in PostgreSQL, which --database names"
                    : "--migrate-to: \(Self.sqlite) is for a state in PostgreSQL: name it with --database")
        }
        let database = try settings.database ?? DatabaseSettings.target(place, source)
        try claimStateDirectory()
        let move = StateMoveSettings(
            directory: settings.stateDirectory, secret: try secretToMigrate(), database: database,
            host: PostgresHost(
                name: database.host, identity: try hostIdentity(), lease: .milliseconds(settings.hostLease)),
            scratch: scratch, process: self)
        if isReturn { try await StateReturn(move: move).move() } else { try await StateMigration(move: move).move() }
        #else
        throw StartError(.usage, "--migrate-to: this agent was built without PostgreSQL")
        #endif
    }

    #if PostgreSQL
    /// The value of `--migrate-to` for a SQLite file in the state directory.
    private static let sqlite = "sqlite"

    /// Loads the secret of the state; never makes one.
    private func secretToMigrate() throws(StartError) -> AgentSecret {
        _ = LockedMemory.prepare()
        guard try SecretSource.loadPrevious(settings) == nil else {
            throw StartError(.config, "the secret is being changed: start the agent, and move its state after that")
        }
        guard let secret = try SecretSource.find(settings) else {
            throw StartError(.noInput, "there is no secret: give the one that the state was made with (--secret-file)")
        }
        return secret
    }
    #endif
}
