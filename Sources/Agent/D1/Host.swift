import AgentHost
import Authenticator
import Custody
import DurableFiles
import IssuerLink
import IssuerProtocol
import Keys
import LinuxProcess
import Logging
import Records
import SQLiteBackup
import SQLiteStore
import Versioning

/// The core in this process, on a state directory that it has locked.
final class Host: Sendable {
    let setup: Setup
    let agent: Agent
    let pushAddress = PushAddress()
    let enrolledType = EnrolledType()
    private let tasks = Tasks()
    private let preparation: Task<Result<Void, D1Error>, Never>

    init(_ setup: Setup) throws(D1Error) {
        self.setup = setup
        let lock = try Self.claim(setup.stateDirectory)
        let opened: Opened
        do throws(D1Error) {
            opened = try Opened(setup)
        } catch {
            lock.release()
            throw error
        }
        let log = Logger(label: "d1")
        let gateway = HTTPIssuerGateway(version: SoftwareVersion.text, network: OutboundNetwork(), clock: SystemClock())
        var settings = AgentSettings(
            localTime: .ofThisProcess, version: SoftwareVersion.text, push: PushSettings(address: pushAddress))
        settings.publicSuffixes = { PublicSuffixFile().list }
        agent = Agent(ports: opened.ports(gateway), settings: settings, log: log)
        preparation = tasks.start { [agent, enrolledType] in
            await agent.preparation(of: enrolledType, at: setup.target.issuer)
        }
        tasks.start { [agent, preparation, enrolledType] in
            if case .success = await preparation.value {
                await agent.live(enrolledType, at: setup.target.issuer, log: log)
            }
            await gateway.shutdown()
            lock.release()
        }
    }

    /// Stops the tasks of a host that was released without `close()`; they release the lock a little later.
    deinit { tasks.cancel() }

    /// Waits until the core is ready.
    func ready() async throws(D1Error) { try await preparation.value.get() }

    /// Ends the core, and waits for its end.
    func close() async { await tasks.cancelAll() }

    private static func claim(_ directory: String) throws(D1Error) -> StateLock {
        let lock: StateLock
        do throws(StateClaimError) {
            lock = try StateClaim.lock(directory)
        } catch {
            throw D1Error(.core, "storage", "\(error)")
        }
        guard StateFiles.tidy(directory) else {
            lock.release()
            throw D1Error(.core, "storage", "a restore into \(directory) was cut off before its end")
        }
        return lock
    }
}

/// The open store, secret and keys of the state directory.
private struct Opened {
    let store: SQLiteDatabase
    let custody: SealedKeyCustody
    let sealing: SecretSealer
    let auditKeys: SealedAuditKeys

    init(_ setup: Setup) throws(D1Error) {
        let directory = setup.stateDirectory
        do {
            let secret = try StoredSecret.load(setup.secretFile, orMadeIn: directory)
            store = try SQLiteDatabase(
                path: "\(directory)/\(StateFiles.database)", seals: RowSealer(secret: secret),
                dataKeys: DataKeySealer(secret: secret))
            custody = SealedKeyCustody(secret: secret)
            sealing = SecretSealer(secret: secret)
            auditKeys = SealedAuditKeys(secret: secret)
        } catch {
            throw D1Error(.core, "storage", "the state in \(directory) cannot be used: \(error)")
        }
    }

    func ports(_ gateway: HTTPIssuerGateway) -> Ports {
        Ports(
            store: store, custody: custody, sealing: sealing, auditKeys: auditKeys, gateway: gateway,
            clock: SystemClock(), entropy: SystemEntropy())
    }
}

/// The secret that wraps all keys.
private enum StoredSecret {
    static func load(_ path: String?, orMadeIn directory: String) throws -> AgentSecret {
        let own = "\(directory)/\(StateFiles.secret)"
        do {
            return try AgentSecret(SecretFile.read(path ?? own, maxBytes: AgentSecret.bytes.upperBound))
        } catch let error as FileError where error.reason == .missing && path == nil {
            return try make(at: own)
        }
    }

    private static func make(at path: String) throws -> AgentSecret {
        let secret = try Secret.random(32)
        try SecretFile.write(secret, to: path)
        return try AgentSecret(secret)
    }
}
