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
    /// Those that a decision needs as well.
    let decision: DecisionPorts
    /// How that store is, as whoever watches it has noted.
    package let storeHealth: StoreHealth
    /// Where this host notes its head; `nil` if it does not.
    package let headKeeper: (any HeadKeeper)?
    /// The time by which age counts: everything that deletes for its age asks it, and no clock.
    package let provenTime: ProvenTime
    package let externalKeys: any ExternalKeyInspection
    package let sealing: any SecretSealing
    package let auditKeys: any AuditKeys
    package let gateway: any IssuerGateway
    /// Clock that tests may set forward; `nil`: the clock is the machine's.
    let testClock: (any AdvanceableClock)?
    package let entropy: any Entropy
    package let inspector: any HostInspector

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
        decision = DecisionPorts(
            store: store, custody: custody, clock: testClock ?? clock, patience: clock, shares: shares)
        storeHealth = StoreHealth()
        self.headKeeper = headKeeper
        provenTime = ProvenTime(testClock ?? clock)
        self.externalKeys = externalKeys
        self.sealing = sealing
        self.auditKeys = auditKeys
        self.gateway = gateway
        self.testClock = testClock
        self.entropy = entropy
        self.inspector = inspector
    }

    /// The same as others, with some in the place of theirs.
    private init(like ports: Ports, decision: DecisionPorts? = nil, inspector: (any HostInspector)? = nil) {
        self.decision = decision ?? ports.decision
        storeHealth = ports.storeHealth
        headKeeper = ports.headKeeper
        provenTime = ports.provenTime
        externalKeys = ports.externalKeys
        sealing = ports.sealing
        auditKeys = ports.auditKeys
        gateway = ports.gateway
        testClock = ports.testClock
        entropy = ports.entropy
        self.inspector = inspector ?? ports.inspector
    }

    /// The same, with another store and custody in the place of these.
    func with(store: any Store, custody: any KeyCustody) -> Ports {
        Ports(like: self, decision: DecisionPorts(like: decision, store: store, custody: custody))
    }

    /// The same with another look at the host.
    package func with(inspector: any HostInspector) -> Ports { Ports(like: self, inspector: inspector) }

    package var store: any Store { decision.store }
    package var custody: any KeyCustody { decision.custody }
    package var clock: any AgentClock { decision.clock }
    package var patience: any AgentClock { decision.patience }
    package var headStanding: HeadStanding { decision.headStanding }
    var lateDecisions: LateDecisions { decision.lateDecisions }
    package var shares: (any WorkShares)? { decision.shares }
}
