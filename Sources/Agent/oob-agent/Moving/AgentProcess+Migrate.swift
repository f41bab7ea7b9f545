import Custody
import Keys
import SQLiteStore

#if PostgreSQL
import PostgresStore
#endif

extension AgentProcess {
    /// Copies the state of agents that are stopped into an empty PostgreSQL database, or from one into a SQLite file, and
    /// looks at all of it there before an agent can start on it; after that none starts where it was.
    ///
    /// What cut it short is put right by doing it again: until then an agent starts on one of the two at most.
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
        if isReturn { try await StateReturn(move: move).run() } else { try await StateMigration(move: move).run() }
        #else
        throw StartError(.usage, "--migrate-to: this agent was built without PostgreSQL")
        #endif
    }

    #if PostgreSQL
    /// What stands for a SQLite file in the state directory.
    private static let sqlite = "sqlite"

    /// The one that the state has; none is made.
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
