import Records
import Signing
import StoreTables

/// The ports of a decision and of a PIN's check, and the state of the store and of late decisions.
///
/// A file that decides names no issuer. A class, as ``Ports`` is.
final class DecisionPorts: Sendable {
    let store: any Store
    let custody: any KeyCustody
    /// When something happens: the clock of a test, if there is one.
    let clock: any AgentClock
    /// For how long a client is waited for: the machine's, also in a test.
    let patience: any AgentClock
    /// Whether the database is known to be the newest that this host wrote.
    let headStanding: HeadStanding
    /// Decisions that are not to be sent, because their commit came after their deadline.
    let lateDecisions: LateDecisions
    /// Queues in which a key's PIN is tried once at a time; keys of the agent's own have none.
    let keyQueues: KeyedQueue<KeyIdentity>
    /// Which enrollments are this host's to poll and deliver for; `nil` if it has the store to itself.
    let shares: (any WorkShares)?

    init(
        store: any Store, custody: any KeyCustody, clock: any AgentClock, patience: any AgentClock,
        shares: (any WorkShares)?
    ) {
        self.store = store
        self.custody = custody
        self.clock = clock
        self.patience = patience
        headStanding = HeadStanding()
        lateDecisions = LateDecisions()
        keyQueues = KeyedQueue()
        self.shares = shares
    }

    /// The same as others, with another store and custody in the place of theirs.
    init(like ports: DecisionPorts, store: any Store, custody: any KeyCustody) {
        self.store = store
        self.custody = custody
        clock = ports.clock
        patience = ports.patience
        headStanding = ports.headStanding
        lateDecisions = ports.lateDecisions
        keyQueues = ports.keyQueues
        shares = ports.shares
    }

    /// Whether this host polls and delivers for an enrollment: each, if it has the store to itself.
    func isOurs(_ id: EnrollmentID) -> Bool { shares.map { $0.term(of: id) != nil } ?? true }
}
