package import Records
package import Signing
package import StoreTables

/// Ports for all that the core needs from outside.
///
/// Each is named for its role and implemented at an edge. The code that wires the agent makes one value. ``Agent``
/// wraps it with the core's additions.
///
/// A class, though its properties never change: all parts of the core have it, and each copy of a struct would be half
/// a kilobyte and a dozen references.
package final class Ports: Sendable {
    /// The ports that decisions need too.
    let decision: DecisionPorts
    /// The store's health, as ``WatchedStore`` has reported it.
    package let storeHealth: StoreHealth
    /// The place of this host's head note.
    ///
    /// `nil` if it keeps none.
    package let headKeeper: (any HeadKeeper)?
    /// The time for the age of stored data.
    ///
    /// All code that deletes by age uses it, never a clock.
    package let provenTime: ProvenTime
    package let externalKeys: any ExternalKeyInspection
    package let sealing: any SecretSealing
    package let auditKeys: any AuditKeys
    package let gateway: any IssuerGateway
    /// A clock that tests may set forward.
    ///
    /// `nil` if the machine's clock is used.
    let testClock: (any AdvanceableClock)?
    package let entropy: any Entropy
    package let inspector: any HostInspector

    /// - Parameters:
    ///   - clock: the machine's clock.
    ///   - testClock: a clock that replaces it for all but patience.
    ///   - shares: this host's share of the work. `nil` if it has the store to itself.
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

    /// Makes a copy with replacements.
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

    /// Returns a copy with another store and custody.
    func with(store: any Store, custody: any KeyCustody) -> Ports {
        Ports(like: self, decision: DecisionPorts(like: decision, store: store, custody: custody))
    }

    /// Returns a copy with another inspector of the host.
    package func with(inspector: any HostInspector) -> Ports { Ports(like: self, inspector: inspector) }

    package var store: any Store { decision.store }
    package var custody: any KeyCustody { decision.custody }
    package var clock: any AgentClock { decision.clock }
    package var patience: any AgentClock { decision.patience }
    package var headStanding: HeadStanding { decision.headStanding }
    var lateDecisions: LateDecisions { decision.lateDecisions }
    package var shares: (any WorkShares)? { decision.shares }
}
