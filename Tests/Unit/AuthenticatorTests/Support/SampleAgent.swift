import AgentHost
import Custody
import ExternalKeyCustody
import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import StoreTables
import TestStores
import ThreeDS

@testable import Authenticator
@testable import Journal
@testable import Records

/// An agent of real parts, SQLite, OpenSSL and the system's randomness, in a directory of its own; the network is a
/// script and the clock stands still.
struct SampleAgent: Sendable {
    static let start: Int64 = 1_700_000_000

    let directory: ScratchDirectory
    let secret: AgentSecret
    let clock: ManualClock
    let issuer: ScriptedIssuer
    let issuerKey: SigningKey
    let store: BreakableStore
    let seals: CountingSeals
    let custody: WatchedCustody
    let settings: AgentSettings
    let ports: Ports
    /// Where the head is noted; nil if it is not.
    let headFile: HeadFile?
    let agent: Agent

    /// - Parameters:
    ///   - hub: what tells its services of events.
    ///   - keepsHead: whether it notes its head beside the store, and so do those that are made from it.
    init(
        _ settings: AgentSettings = AgentSettings(version: "1.2.3"), hub: EventHub = EventHub(), keepsHead: Bool = false
    ) throws {
        let key = try SigningKey.generate(.es256)
        try self.init(
            directory: ScratchDirectory(), secret: AgentSecret.generate(), clock: ManualClock(now: Self.start),
            issuer: ScriptedIssuer(keys: JWKSet(keys: [("key-1", key.publicKey)])), issuerKey: key, settings: settings,
            hub: hub, keepsHead: keepsHead)
    }

    private init(
        directory: ScratchDirectory, secret: AgentSecret, clock: ManualClock, issuer: ScriptedIssuer,
        issuerKey: SigningKey, settings: AgentSettings, previous: AgentSecret? = nil, log: Logger? = nil,
        host: String = "alpha", shares: (any WorkShares)? = nil, hub: EventHub = EventHub(), keepsHead: Bool
    ) throws {
        self.directory = directory
        self.secret = secret
        self.clock = clock
        self.issuer = issuer
        self.issuerKey = issuerKey
        self.settings = settings
        let secrets = SealingSecrets(secret, previous: previous)
        seals = CountingSeals(RowSealer(secrets))
        let dataKeys = DataKeySealer(secrets)
        store = BreakableStore(
            try openStore(at: "\(directory.path)/store.sqlite", seals: seals, dataKeys: dataKeys, host: host))
        let ring = KeyRing(
            own: SealedKeyCustody(secrets), external: ExternalKeys(pkcs11Module: nil),
            clock: clock)
        custody = WatchedCustody(ring)
        headFile = keepsHead ? HeadFile("\(directory.path)/head-of-\(host)") : nil
        ports = Ports(
            store: store, custody: custody, externalKeys: ring,
            sealing: SecretSealer(secrets),
            auditKeys: SealedAuditKeys(secrets), gateway: issuer, clock: clock,
            shares: shares, headKeeper: headFile, entropy: SystemEntropy())
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        agent = Agent(ports: ports, settings: settings, log: log ?? silent, hub: hub)
    }

    /// The same directory and issuer under a new agent, as after a restart.
    func restarted(
        secret: AgentSecret? = nil, previous: AgentSecret? = nil, settings: AgentSettings? = nil, log: Logger? = nil
    ) throws -> SampleAgent {
        try SampleAgent(
            directory: directory, secret: secret ?? self.secret, clock: clock, issuer: issuer, issuerKey: issuerKey,
            settings: settings ?? self.settings, previous: previous, log: log, keepsHead: headFile != nil)
    }

    /// Another host's agent on the same database, with the same secret and issuer.
    ///
    /// - Parameters:
    ///   - shares: what of the work is that host's; nil: all.
    ///   - hub: what tells its services of events.
    func neighbour(
        _ host: String, shares: (any WorkShares)? = nil, settings: AgentSettings? = nil, hub: EventHub = EventHub()
    ) throws -> SampleAgent {
        try SampleAgent(
            directory: directory, secret: secret, clock: clock, issuer: issuer, issuerKey: issuerKey,
            settings: settings ?? self.settings, host: host, shares: shares, hub: hub,
            keepsHead: headFile != nil)
    }

    /// Starts it with both secrets, and brings all under the present one.
    func rotate(
        by rewrapper: any Rewrapper, onStep: @escaping @Sendable (StartStep) -> Void = { _ in }
    ) async throws {
        try await agent.prepare(rewrapping: rewrapper, onStep: onStep)
        try await agent.secretRotation.finish()
    }

    /// What brings all under another secret.
    func rewrapper(to new: AgentSecret) -> SecretRewrapper {
        SecretRewrapper(by: SecretChange(from: secret, to: new))
    }

    var now: Int64 { clock.now }

    var issuerKeys: JWKSet { JWKSet(keys: [("key-1", issuerKey.publicKey)]) }

    /// Runs the body while these work, and stops them after it.
    @discardableResult
    func running<T: Sendable>(
        _ services: [@Sendable () async throws -> Void], while body: () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service() } }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    /// Looks now and after every event until it is found.
    @discardableResult
    func eventually<T: Sendable>(_ look: @escaping @Sendable (StoreReading) throws -> T?) async throws -> T {
        let notifier = agent.hub.notifier { _ in true }
        if let found = try await store.real.read(look) { return found }
        for await _ in notifier {
            if let found = try await store.real.read(look) { return found }
        }
        throw CancellationError()
    }

    /// What is published while the body runs.
    func events(while body: () async throws -> Void) async throws -> [AgentEvent] {
        let seen = Box<[AgentEvent]>([])
        let notifier = agent.hub.notifier { event in
            seen.change { $0.append(event) }
            return false
        }
        try await body()
        return withExtendedLifetime(notifier) { seen.value }
    }
}
