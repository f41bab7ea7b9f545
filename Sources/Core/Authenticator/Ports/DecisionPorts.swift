import Records
import Signing
import StoreTables

/// Ports for decisions and PIN checks, with the state of the store and of late decisions.
///
/// A source file with decision code must not name issuers. A class for the same reason as ``Ports``.
final class DecisionPorts: Sendable {
    let store: any Store
    let custody: any KeyCustody
    /// The clock for times of events: a test's clock, if there is one.
    let clock: any AgentClock
    /// The clock for waits of clients: the machine's clock, also in a test.
    let patience: any AgentClock
    /// The doubts whether the database is the newest that this host wrote.
    let headStanding: HeadStanding
    /// The decisions that must not be sent, because their commit came after their deadline.
    let lateDecisions: LateDecisions
    /// The queues that try a key's PIN once at a time.
    ///
    /// The agent's own keys have none.
    let keyQueues: KeyedQueue<KeyIdentity>
    /// The enrollments that this host polls and delivers for.
    ///
    /// `nil` if it has the store to itself.
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

    /// Makes a copy with another store and custody.
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

    /// Returns whether this host polls and delivers for an enrollment.
    ///
    /// It does so for each enrollment if it has the store to itself.
    func isOurs(_ id: EnrollmentID) -> Bool { shares.map { $0.term(of: id) != nil } ?? true }
}
