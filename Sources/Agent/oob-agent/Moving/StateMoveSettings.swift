#if PostgreSQL
import AgentHost
import Authenticator
import Custody
import FoundationEssentials
import IssuerLink
import Keys
import PostgresStore
import Records
import SQLiteBackup
import SQLiteStore
import StoreTables
import Versioning

/// The settings of a move of a state, in either direction.
struct StateMoveSettings {
    let directory: String
    let secret: AgentSecret
    let database: DatabaseSettings
    let host: PostgresHost
    let scratch: Scratch
    let process: AgentProcess

    var file: String { "\(directory)/\(StateFiles.database)" }

    var seals: RowSealer { RowSealer(secret: secret) }
    var dataKeys: DataKeySealer { DataKeySealer(secret: secret) }
    var auditKeys: SealedAuditKeys { SealedAuditKeys(secret: secret) }
    var hostSecrets: HostSecrets { get throws { HostSecrets(present: try secret.fingerprint()) } }

    /// Verifies a state.
    ///
    /// - Returns: the number of enrollments that have not ended.
    @discardableResult
    func expectWhole(_ store: any Store, _ what: String) async throws -> Int {
        try await withAgent(on: store) { agent in
            do {
                return try await agent.expectWhole()
            } catch let unfit as UnfitStateError {
                throw StartError(.dataError, "nothing was moved: \(what) is not whole: \(unfit)")
            }
        }
    }

    /// Runs `body` with an agent that serves no clients.
    func withAgent<Result>(
        on store: any Store, _ body: (Agent) async throws -> Result
    ) async throws -> Result {
        let gateway = HTTPIssuerGateway(
            version: SoftwareVersion.text, network: process.settings.network, clock: SystemClock(),
            bounds: process.answerBounds)
        let ports = Ports(
            store: store, custody: SealedKeyCustody(secret: secret), sealing: SecretSealer(secret: secret),
            auditKeys: auditKeys,
            gateway: gateway, clock: SystemClock(), headKeeper: process.headFile, entropy: SystemEntropy())
        let agent = Agent(ports: ports, settings: AgentSettings(version: SoftwareVersion.text), log: process.log)
        do {
            let result = try await body(agent)
            await gateway.shutdown()
            return result
        } catch {
            await gateway.shutdown()
            throw error is SealError ? Self.wrongSecret : error
        }
    }

    static let wrongSecret = StartError(
        .config, "the secret is not the one that this state was made with: give that one (--secret-file)")
}
#endif
