import AgentHost
import Authenticator
import Custody
import FoundationEssentials
import IssuerLink
import Keys
import LineLog
import SQLiteStore
import StateArchive
import Versioning

#if PostgreSQL
import PostgresStore
import StoreTables
#endif

extension AgentProcess {
    /// Copies the state of an agent that is stopped into an empty PostgreSQL database, and looks at all of it there, before
    /// hosts can start on it; after that no agent starts on the state here.
    ///
    /// What cut it short is put right by doing it again: until then an agent starts on one of the two at most.
    func migrate(to place: String, _ source: SettingSource, _ scratch: Scratch) async throws {
        #if PostgreSQL
        guard settings.database == nil else {
            throw StartError(.usage, "--migrate-to: a state in a PostgreSQL database can not be moved yet")
        }
        let target = try DatabaseSettings.target(place, source)
        try claimStateDirectory()
        try await StateMigration(
            directory: settings.stateDirectory, secret: try secretToMigrate(), target: target,
            host: PostgresHost(
                name: target.host, identity: try hostIdentity(), lease: .milliseconds(settings.bounds.hostLease)),
            scratch: scratch, process: self
        ).run()
        #else
        throw StartError(.usage, "--migrate-to: this agent was built without PostgreSQL")
        #endif
    }

    #if PostgreSQL
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

#if PostgreSQL
/// One state's way from a SQLite file into a PostgreSQL database.
///
/// It is copied, looked at, marked as moved where it was, and only then opened to hosts. Wherever that is cut short, at
/// most one of the two can be started, and the same again goes on.
private struct StateMigration {
    let directory: String
    let secret: AgentSecret
    let target: DatabaseSettings
    let host: PostgresHost
    let scratch: Scratch
    let process: AgentProcess

    private var file: String { "\(directory)/\(StateFiles.database)" }

    func run() async throws {
        guard FileManager.default.fileExists(atPath: file), StateFiles.tidy(directory) else {
            throw StartError(.noInput, "there is no state of an agent in \(directory)")
        }
        let schema = try SQLiteDatabase.schema(of: file)
        if let place = try SQLiteDatabase.movedPlace(of: file) {
            guard place == target.place else { throw StartError(.dataError, "the state was moved to \(place) already") }
            // It was cut short after that; or it is done, which is seen there.
            return try await conclude(marking: nil)
        }
        guard Set(schema) == Set(SQLiteDatabase.knownSchema) else {
            throw StartError(
                .dataError,
                "\(file) is not of this version: start this version of the agent on it once, and move it after that")
        }
        let store = try SQLiteDatabase(path: file, scratch: scratch, seals: RowSealer(secret: secret))
        let keys = try custody(.inFiles)
        try await expectWhole(store, keys, "the state here")
        do {
            _ = try PostgresMove(target.settings, host: host, from: directory).receive { session in
                try store.withSession { source in
                    try StateMove(
                        from: source, of: nil, to: session, of: host.name, seals: RowSealer(secret: secret),
                        targetKeys: DataKeySealer(secret: secret)
                    ).run { enrollment in try enrollment.sealedKey ?? keys.sealedForStore(enrollment.id) }
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

    /// - Parameter store: what is marked as moved; nil if it is already.
    private func conclude(marking store: SQLiteDatabase?) async throws {
        let moved: PostgresStore
        do {
            moved = try PostgresStore(
                target.settings, host: host, seals: RowSealer(secret: secret),
                dataKeys: DataKeySealer(secret: secret), clock: SystemClock(), mayEnterUnfinished: true)
        } catch let error as PostgresMoveError {
            throw StartError(.dataError, "\(target.place): \(error)")
        }
        let count = try await expectWhole(moved, try custody(.inStore), "the copy in \(target.place)")
        try store?.markMoved(to: target.place)
        try await moved.admitHosts()
        try moved.close()
        StandardStream.error.write(
            """
            Moved to \(target.place): \(count) enrollments, with their keys and all that the agent keeps.
            Next, start the agent with --database and --host-name \(host.name), and with the same secret. No agent starts on \
            \(directory) without --database any more; its key files are still there.

            """)
    }

    private func custody(_ newKeys: KeyFileCustody.NewKeys) throws -> KeyFileCustody {
        try KeyFileCustody(directory: "\(directory)/\(StateFiles.keys)", secret: secret, newKeys: newKeys)
    }

    @discardableResult
    private func expectWhole(_ store: any Store, _ keys: KeyFileCustody, _ what: String) async throws -> Int {
        let gateway = HTTPIssuerGateway(
            version: SoftwareVersion.text, network: process.settings.network, clock: SystemClock(),
            bounds: process.settings.bounds.answer)
        let ports = Ports(
            store: store, custody: keys, sealing: SecretSealer(secret: secret),
            auditKeys: SealedAuditKeys(secret: secret), gateway: gateway, clock: SystemClock(),
            entropy: SystemEntropy())
        let agent = Agent(ports: ports, settings: AgentSettings(version: SoftwareVersion.text), log: process.log)
        let result: Result<Int, any Error>
        do { result = .success(try await agent.expectWhole()) } catch { result = .failure(error) }
        await gateway.shutdown()
        do {
            return try result.get()
        } catch let unfit as UnfitStateError {
            throw StartError(.dataError, "nothing was moved: \(what) is not whole: \(unfit)")
        } catch is SealError {
            throw StartError(
                .config, "the secret is not the one that this state was made with: give that one (--secret-file)")
        }
    }
}
#endif
