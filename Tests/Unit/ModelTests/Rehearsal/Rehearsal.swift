import AgentHost
import Custody
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import ScratchDirectories
import StoreTables
import Synchronization

@testable import Authenticator

/// One schedule on a real agent and on the model, side by side, compared after every step.
///
/// The agent is its core and a real SQLite file; the key is in memory, the clock and the issuer do as the schedule says.
/// A restart throws the agent away and makes another on the same file.
///
/// There may be several hosts on one PostgreSQL, which take turns at the steps. A step within an approval is another
/// host's, so that several are at the same enrollment at once. A restart is one of all.
actor Rehearsal {
    let issuer: SampleIssuer
    let clock: ScheduleClock
    let gateway: ScriptedGateway
    let custody: QuickCustody
    let notifier = ChangeNotifier()
    var model: Model
    var record = Record()
    private(set) var hosts: [(agent: Agent, store: CrashableStore)] = []
    /// Whose turn it is.
    private var turn = 0
    /// How many steps are under way, each within the one before.
    private var depth = 0
    /// Whether an outbox delivery runs: it is told of what happens at its own host alone.
    var isDelivering = false
    /// What the agents have presented, as they told it.
    let presented = Presented()
    private var listeners: [EventNotifier] = []
    private let hostCount: Int
    private let directory: ScratchDirectory
    private var step = 0
    /// Messages as they went over the wire, by card.
    var texts: [Int: [Message: String]] = [:]
    /// What the schedule listed, for the end, when it is listed once more.
    var listed: [Int: [Message]] = [:]

    init(_ issuer: SampleIssuer, hosts count: Int) async throws {
        (self.issuer, hostCount) = (issuer, count)
        directory = try .inMemory()
        clock = ScheduleClock(notifier: notifier)
        gateway = ScriptedGateway(keys: issuer.keySet, notifier: notifier)
        custody = QuickCustody(keys: Dictionary(uniqueKeysWithValues: issuer.cards.map { ($0.id, $0.key) }))
        model = Model(cards: issuer.cards.count)
        try makeHosts()
        // The journal's head vouches for the rows, so it comes first.
        for host in hosts { try await host.agent.prepare() }
        for card in issuer.cards { try await enroll(card) }
    }

    var agent: Agent { hosts[turn].agent }
    var store: CrashableStore { hosts[turn].store }

    private func makeHosts() throws {
        hosts = try (0..<hostCount).map { number in
            let store = try CrashableStore(path: "\(directory.path)/store.sqlite", host: "host-\(number)")
            return (
                Self.agent(on: store, custody: custody, gateway: gateway, clock: clock, secret: issuer.agentSecret),
                store
            )
        }
        listeners = hosts.map { presented.listen(to: $0.agent.hub) }
    }

    /// Does something as the host whose turn it is.
    func takingTurn<T>(_ work: () async throws -> T) async throws -> T {
        let before = turn
        if !isDelivering { turn = (depth == 0 ? step : before + 1) % hostCount }
        depth += 1
        defer { (turn, depth) = (before, depth - 1) }
        return try await work()
    }

    /// Performs all, and at the end sees that nothing stays undone when the issuer is well.
    ///
    /// An agent that no longer does what a step waits for is a finding as well: no schedule takes a second.
    static func run(
        _ schedule: [Step], at issuer: SampleIssuer, hosts: Int = 1, patience: Duration = .seconds(120)
    ) async throws -> Finding? {
        let rehearsal = try await Rehearsal(issuer, hosts: hosts)
        return try await withThrowingTaskGroup(of: Finding?.self) { group in
            group.addTask { try await rehearsal.run(schedule) }
            group.addTask {
                try await Task.sleep(for: patience)
                let step = await rehearsal.step
                return Finding("the agent does not do what is waited for", step: step, isTimeOver: true)
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func run(_ schedule: [Step]) async throws -> Finding? {
        do {
            for step in schedule {
                self.step += 1
                try await perform(step)
            }
            step += 1
            try await conclude()
            return nil
        } catch let finding as Finding {
            return self.finding(finding.sentence)
        } catch  where !(error is CancellationError) {
            return finding("what nobody expects: \(error)")
        }
    }

    private func finding(_ sentence: String) -> Finding { Finding(sentence, step: step) }

    private static func agent(
        on store: CrashableStore, custody: QuickCustody, gateway: ScriptedGateway, clock: ScheduleClock,
        secret: AgentSecret
    ) -> Agent {
        let ports = Ports(
            store: store, custody: custody, sealing: SecretSealer(secret: secret),
            auditKeys: SealedAuditKeys(secret: secret), gateway: gateway, clock: clock, entropy: SystemEntropy())
        let log = Logger(label: "model") { _ in SwiftLogNoOpLogHandler() }
        return Agent(ports: ports, settings: AgentSettings(version: "1"), log: log)
    }

    private func enroll(_ card: SampleIssuer.Card) async throws {
        guard let token = AccessToken(card.token) else { throw SampleIssuer.CannotMake() }
        let target = IssuerTarget(issuer: try IssuerURL(SampleIssuer.issuer), rootsPEM: nil)
        let sealing = SecretSealer(secret: issuer.agentSecret)
        let membership = Membership(
            authenticatorId: card.authenticatorId, sealedToken: try sealing.seal(token, for: card.id),
            enrolledAt: clock.now)
        let enrollment = Enrollment(
            id: card.id, target: target, name: "card", authnType: .presence, algorithm: -7, rpId: SampleIssuer.rpId,
            credentialId: card.credentialId, userHandle: [1], startedAt: clock.now, signCount: 0,
            state: .active(membership))
        try await store.write { try $0.insert(enrollment) }
    }

    func restart() async throws {
        try makeHosts()
        for host in hosts { try await host.agent.prepare() }
        model.restart()
    }

    // MARK: The end

    /// The issuer is well and lists all that it ever listed; every decision that was acknowledged reaches it.
    private func conclude() async throws {
        try await restart()
        for (card, messages) in listed.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: messages.count, by: 50) {
                try await list(Array(messages[start..<min(start + 50, messages.count)]), for: card, crash: nil)
            }
        }
        try await tick()
        try await compare()
        try await deliverAll()
        try await compare()
        try await perform(.pass(86_400))
        try await perform(.tick)
        for host in hosts {
            let fault = try await host.agent.journal.verify().fault
            if let fault { throw Finding("the journal is not whole, or does not vouch for the rows: \(fault)") }
        }
    }
}
