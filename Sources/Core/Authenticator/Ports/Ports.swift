package import Records
package import Signing
package import StoreTables

/// The ports: everything the core needs from outside, each named for the role it plays and implemented at an edge.
///
/// One value for the place that wires it; ``Agent`` puts around it what the core adds.
///
/// A class, though nothing of it changes: all parts of the core have it, and a copy would be half a kilobyte and a dozen
/// references each time.
package final class Ports: Sendable {
    package let store: any Store
    /// How that store is, as whoever watches it has noted.
    package let storeHealth: StoreHealth
    /// One try of a key's PIN at a time, whoever makes it; not for keys of the agent's own.
    let keyQueues: KeyedQueue<KeyIdentity>
    /// Which enrollments are this host's to poll and deliver for; nil if it has the store to itself.
    package let shares: (any WorkShares)?
    /// Where this host notes its head; nil if it does not.
    package let headKeeper: (any HeadKeeper)?
    /// Whether the database is known to be the newest that this host wrote.
    package let headStanding: HeadStanding
    /// The time by which age counts: everything that deletes for its age asks it, and no clock.
    package let provenTime: ProvenTime
    /// Decisions that are not to be sent, because their commit came after their deadline.
    let lateDecisions: LateDecisions
    package let custody: any KeyCustody
    package let externalKeys: any ExternalKeyInspection
    package let sealing: any SecretSealing
    package let auditKeys: any AuditKeys
    package let gateway: any IssuerGateway
    /// When something happens, and when something is due: the clock of a test, if there is one.
    package let clock: any AgentClock
    /// The same clock if tests may set it forward; nil: it is the machine's.
    let testClock: (any AdvanceableClock)?
    /// For how long a client or an issuer is waited for: the machine's, also in a test.
    let patience: any AgentClock
    package let entropy: any Entropy
    package let inspector: any HostInspector
    /// The ports that a decision needs.
    let decision: DecisionPorts

    /// - Parameters:
    ///   - clock: the machine's.
    ///   - testClock: what takes its place for all but patience.
    ///   - shares: what of the work is this host's; nil if it has the store to itself.
    package init(
        store: any Store, custody: any KeyCustody, externalKeys: any ExternalKeyInspection = NoExternalKeys(),
        sealing: any SecretSealing, auditKeys: any AuditKeys, gateway: any IssuerGateway, clock: any AgentClock,
        testClock: (any AdvanceableClock)? = nil, shares: (any WorkShares)? = nil,
        headKeeper: (any HeadKeeper)? = nil, entropy: any Entropy, inspector: any HostInspector = NoHostInspector()
    ) {
        self.store = store
        storeHealth = StoreHealth()
        keyQueues = KeyedQueue()
        self.shares = shares
        self.headKeeper = headKeeper
        headStanding = HeadStanding()
        provenTime = ProvenTime(testClock ?? clock)
        lateDecisions = LateDecisions()
        self.custody = custody
        self.externalKeys = externalKeys
        self.sealing = sealing
        self.auditKeys = auditKeys
        self.gateway = gateway
        self.clock = testClock ?? clock
        self.testClock = testClock
        patience = clock
        self.entropy = entropy
        self.inspector = inspector
        decision = DecisionPorts(
            store: store, custody: custody, clock: self.clock, patience: patience, headStanding: headStanding,
            lateDecisions: lateDecisions, keyQueues: keyQueues, shares: shares)
    }

    /// The same as others, with some in the place of theirs.
    private init(
        like ports: Ports, store: (any Store)? = nil, custody: (any KeyCustody)? = nil,
        inspector: (any HostInspector)? = nil
    ) {
        self.store = store ?? ports.store
        storeHealth = ports.storeHealth
        keyQueues = ports.keyQueues
        shares = ports.shares
        headKeeper = ports.headKeeper
        headStanding = ports.headStanding
        provenTime = ports.provenTime
        lateDecisions = ports.lateDecisions
        self.custody = custody ?? ports.custody
        externalKeys = ports.externalKeys
        sealing = ports.sealing
        auditKeys = ports.auditKeys
        gateway = ports.gateway
        clock = ports.clock
        testClock = ports.testClock
        patience = ports.patience
        entropy = ports.entropy
        self.inspector = inspector ?? ports.inspector
        decision = DecisionPorts(
            store: self.store, custody: self.custody, clock: clock, patience: patience, headStanding: headStanding,
            lateDecisions: lateDecisions, keyQueues: keyQueues, shares: shares)
    }

    /// The same, with another store and custody in the place of these.
    func with(store: any Store, custody: any KeyCustody) -> Ports { Ports(like: self, store: store, custody: custody) }

    /// The same with another look at the host.
    package func with(inspector: any HostInspector) -> Ports { Ports(like: self, inspector: inspector) }
}
