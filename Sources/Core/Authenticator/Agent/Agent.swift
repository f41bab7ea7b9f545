import IssuerProtocol
package import Journal
package import Keys
package import Logging
package import Records
import StoreTables
import StrictJSON
package import ThreeDS

/// The core's interface to the edges: the agent's commands, queries and background loops.
///
/// A class although it is immutable: every connection refers to it, and it is large.
package final class Agent: Sendable {
    package let hub: EventHub
    package let settings: AgentSettings
    // The background loops. Each runs until its task is cancelled.
    let registrationDelivery: RegistrationDelivery
    let fetcher: Fetcher
    let outboxDelivery: OutboxDelivery
    let expiryService: ExpiryService
    let deferredReader: DeferredReader
    let signCountWatch: SignCountWatch
    let storeWatch: StoreWatch
    let dataRetention: DataRetention
    let journalPruner: JournalPruner
    let checkpointer: Checkpointer
    let keyWatch: KeyWatch
    let pushSubscriber: PushSubscriber
    /// The receiver of pushes, or `nil` if the agent receives none.
    package let pushReception: PushReception?
    let neighbours: Neighbours
    let periodicLook: PeriodicLook
    let hostWitness: HostWitness
    let headWatch: HeadWatch
    let rowWatch: RowWatch
    let secretRotation: SecretRotation
    let provenTimeKeeper: ProvenTimeKeeper
    package let journal: JournalReader
    let checkup: Checkup
    package let processTroubles = ProcessTroubles()

    let ports: Ports
    let log: Logger
    let enroller: Enroller
    let unenroller: Unenroller
    let decider: Decider
    let pinChange: PINChange
    private let badPeers: LogQuota
    let directory: IssuerDirectory
    let health = IssuerHealth()
    let tally = PushTally()
    let workTally = WorkTally()
    let drops = MessageDrops()

    package init(ports: Ports, settings: AgentSettings, log: Logger, hub: EventHub = EventHub()) {
        self.hub = hub
        let keyHealth = KeyHealth()
        // Wraps the store and the custody of the edges in those of the core.
        let store = JournaledStore(
            store: WatchedStore(real: ports.store, health: ports.storeHealth), keys: ports.auditKeys,
            clock: ports.clock, hub: hub)
        let custody = ProvenCustody(real: ports.custody, clock: ports.clock, health: keyHealth, hub: hub)
        let ports = ports.with(store: store, custody: custody)
        keyWatch = KeyWatch(
            ports: ports, health: keyHealth, hub: hub, log: log, quota: LogQuota(pause: settings.bounds.logPause))
        self.ports = ports
        self.settings = settings
        self.log = log
        let directory = IssuerDirectory(gateway: ports.gateway, clock: ports.clock)
        self.directory = directory
        let deferred = DeferredMessages(settings.bounds)
        badPeers = LogQuota(pause: settings.bounds.logPause)
        let intake = Intake(
            ports: ports, settings: settings, directory: directory, deferred: deferred, hub: hub, tally: tally,
            drops: drops, health: health, refusedPeers: badPeers, log: log)
        let standing = IssuerStanding(ports: ports, health: health, log: log)
        registrationDelivery = RegistrationDelivery(
            ports: ports, directory: directory, keys: keyHealth, hub: hub, log: log)
        fetcher = Fetcher(
            ports: ports, directory: directory, intake: intake, hub: hub, health: health,
            standing: standing, tally: tally, pollInterval: settings.push?.pollInterval,
            longPolls: LongPolls(limit: settings.longPolls),
            pushHints: hub.pendingKeys { if case .fetchWanted(let id) = $0 { [id] } else { [] } }, log: log)
        signCountWatch = SignCountWatch(ports: ports, directory: directory, log: log, quota: badPeers)
        outboxDelivery = OutboxDelivery(
            ports: ports, directory: directory, signCountWatch: signCountWatch, standing: standing, hub: hub, log: log)
        let told = ToldNeighbours()
        neighbours = Neighbours(ports: ports, hub: hub, log: log, told: told)
        periodicLook = PeriodicLook(
            ports: ports, hub: hub, log: log, deferred: deferred, keyHealth: keyHealth, head: { store.head })
        hostWitness = HostWitness(store: store, ports: ports, retention: settings.auditRetention, log: log)
        headWatch = HeadWatch(store: store, ports: ports, hub: hub, log: log)
        rowWatch = RowWatch(store: store, ports: ports, log: log)
        provenTimeKeeper = ProvenTimeKeeper(ports: ports, log: log)
        storeWatch = StoreWatch(ports: ports, bounds: settings.bounds, log: log)
        dataRetention = DataRetention(ports: ports, retention: settings.retention, hub: hub, log: log)
        expiryService = ExpiryService(ports: ports, hub: hub, log: log)
        deferredReader = DeferredReader(ports: ports, intake: intake, deferred: deferred, hub: hub)
        let pushes = PushMaker(ports: ports, settings: settings.push)
        enroller = Enroller(
            ports: ports, settings: settings, directory: directory, pushes: pushes, keys: keyHealth, hub: hub, log: log)
        pushSubscriber = PushSubscriber(ports: ports, maker: pushes, directory: directory, hub: hub, log: log)
        pushReception = settings.push.map { [tally, hub, badPeers] in
            PushReception(
                ports: ports, settings: $0, intake: intake, hub: hub, tally: tally, badPeers: badPeers, log: log)
        }
        unenroller = Unenroller(
            ports: ports, directory: directory, hub: hub, health: health, keys: keyHealth, tally: tally, log: log)
        let queues = SignatureQueues()
        decider = Decider(
            ports: ports.decision, queues: queues, signCounts: signCountWatch, localTime: settings.localTime)
        pinChange = PINChange(ports: ports, queues: queues)
        secretRotation = SecretRotation(ports: ports, log: log)
        checkup = Checkup(ports: ports, keys: keyHealth, issuers: health, hasPersonas: settings.hasPersonas)
        journalPruner = JournalPruner(
            store: store, ports: ports, retention: settings.auditRetention, log: log)
        checkpointer = Checkpointer(store: store, ports: ports, hub: hub, log: log)
        journal = JournalReader(
            store: store, hub: hub, clock: ports.clock, eventsKept: settings.eventsKept, neighbours: told)
    }

    /// Recovers from a crash, and verifies that the secret opens the store's values.
    ///
    /// Call before anything runs.
    ///
    /// - Parameters:
    ///   - rewrapper: given if the agent's secret changes. Then this surveys all values, and the loops change them.
    ///   - isReadingRows: whether this verifies all rows against the journal before it returns. If not, the loops do
    ///     so, and approvals wait for that.
    ///   - onStep: called after each step that takes time.
    ///
    /// If the journal is forged, this returns all the same, and the agent stays in trouble for good.
    /// - Throws: the sealing's error if this state was made with another secret; `RotationError`; `ClockError`;
    ///   ``ForeignHeadError``.
    package func prepare(
        rewrapping rewrapper: (any Rewrapper)? = nil, isReadingRows: Bool = true,
        onStep: @escaping @Sendable (StartStep) -> Void = { _ in }
    ) async throws {
        ports.headStanding.expectRows()
        try await resumeClock()
        try await provenTimeKeeper.begin()
        var acceptance: JournalFact?
        try await unlessForged { acceptance = try await headWatch.begin() }
        keyWatch.health.expectFirstLook()
        if let rewrapper { try await secretRotation.begin(with: rewrapper, onStep: onStep) }
        try await unlessForged {
            try await scrubIfDue(onStep)
            if let acceptance { try await record(acceptance) }
            try await record(.started(version: settings.version))
        }
        await headWatch.save()
        workTally.begin(after: try await journal.newest(), at: ports.clock.now)
        try await openFirstToken()
        if isReadingRows { try await rowWatch.look() }
    }

    /// Verifies that the secret opens the store's values, by opening one token.
    private func openFirstToken() async throws {
        var last: EnrollmentID?
        repeat {
            let page = try await enrollments(after: last, limit: 8)
            for enrollment in page {
                guard let membership = enrollment.membership else { continue }
                _ = try ports.sealing.open(membership.sealedToken, for: enrollment.id)
                return
            }
            last = page.last?.id
        } while last != nil
    }

    /// Runs `work`, and lets the agent go on if the journal is forged, so that the agent can report it.
    ///
    /// On a forged journal the agent decides no request.
    private func unlessForged(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let trouble as StoreError where trouble.kind == .forged {}
    }

    /// Removes values that a change of the secret has overwritten from the free space of the store's files.
    private func scrubIfDue(_ onStep: @Sendable (StartStep) -> Void) async throws {
        guard try await ports.store.read({ try $0.isScrubDue() }) else { return }
        onStep(.scrubbing)
        try await ports.store.scrub()
        onStep(.scrubbed)
    }

    /// Records the ends of the other hosts' journal chains, if they are new.
    package func recordOtherHosts() async throws { try await hostWitness.look() }

    /// Writes the final records of the agent, after all loops have stopped.
    package func conclude() async throws {
        do { try await recordOtherHosts() } catch {
            log.error("what other hosts have written could not be recorded", metadata: ["reason": "\(error)"])
        }
        try await record(.stopped)
        await headWatch.save()
        await provenTimeKeeper.keep()
    }

    /// Accepts a database that is not known to be the newest that this host wrote.
    ///
    /// Call before anything runs.
    ///
    /// - Returns: the doubts, one sentence a line. `nil` if there were none.
    /// - Throws: the errors of ``prepare(rewrapping:isReadingRows:onStep:)``, and `StoreError` `.forged`.
    package func acceptHead() async throws -> String? {
        try await resumeClock()
        return try await headWatch.accept(rowWatch)
    }

    /// Records a peer's command in the journal and the log, before the agent carries it out.
    package func recordCommand(_ command: JournaledCommand, by peer: ControlPeer, about id: EnrollmentID? = nil)
        async throws
    {
        try await record(.commanded(command, by: peer, about: id))
        log.notice("commanded", metadata: peer.logged(["command": "\(command)"]))
    }

    func record(_ fact: JournalFact) async throws {
        let clock = ports.clock
        try await ports.store.write { try $0.record(fact, at: clock.now) }
    }

    /// Throws ``ForeignHeadError`` if the place to which a state is moved has the noted head of another journal.
    package func expectOwnHead() async throws { try await headWatch.expectOwnHead() }

    // MARK: Requests

    /// Fetches now, for one enrollment or for all.
    ///
    /// - Returns: the failures, by issuer and reason.
    package func fetch(_ enrollment: EnrollmentID?) async throws -> [FetchFailure] {
        guard let enrollment else { return try await fetcher.fetchAll() }
        guard let chosen = try await self.enrollment(enrollment) else { return [] }
        return try await fetcher.fetchOne(chosen)
    }

    /// - Throws: `CommandError` if the request at which `page` begins does not exist.
    package func requests(
        pendingOnly: Bool, enrollment: EnrollmentID?, page: RequestPage = RequestPage(), limit: Int
    ) async throws -> [RequestRecord] {
        try await ports.store.read { store in
            for bound in [page.after, page.before].compactMap(\.self) where try store.request(bound) == nil {
                throw CommandError(.notFound, "there is no request \(bound)")
            }
            return try store.requests(pendingOnly: pendingOnly, enrollment: enrollment, page: page, limit: limit)
        }
    }

    /// Decides one request.
    ///
    /// - Parameters:
    ///   - pin: the PIN, for an approval that takes one.
    ///   - wanted: the caller's deadline and connection. Once one of them has ended, the request is not decided. `nil`
    ///     for a deadline after `DecisionLimit.standardSeconds`.
    /// - Returns: the request, once its decision is durable.
    /// - Throws: `CommandError` if the request was not decided.
    package func decide(
        _ decision: RequestLife.Decision, on id: RequestID, expecting expectations: Expectations, by approver: Approver,
        pin: PIN? = nil, while wanted: DecisionLimit? = nil
    ) async throws -> RequestRecord {
        try await decided(
            decision, on: id, expecting: expectations, by: approver, pin: pin,
            while: wanted ?? DecisionLimit(on: ports.patience)
        ).request
    }

    /// Decides one request, and returns the enrollment and the shown text too.
    ///
    /// The caller would otherwise have to read them again.
    package func decided(
        _ decision: RequestLife.Decision, on id: RequestID, expecting expectations: Expectations,
        by approver: Approver, pin: PIN?, while wanted: DecisionLimit
    ) async throws -> DecidedRequest {
        try await decider.decide(
            decision, on: id, expecting: expectations, by: approver, pin: pin, while: wanted)
    }

    /// Returns the time limit of a decision that is requested now.
    ///
    /// - Parameters:
    ///   - seconds: the limit for the decision, in seconds.
    ///   - before: the time from which on the request must not be decided, in seconds since 1970 by the machine's
    ///     clock. `nil` for none.
    package func wanted(for seconds: Double, before: Int64?) -> DecisionLimit {
        DecisionLimit(for: seconds, before: before, on: ports.patience)
    }

    /// Waits up to `seconds` for the issuer's answer to a decision.
    ///
    /// - Returns: the request. Its `life.delivery` is the state of the delivery.
    package func delivered(_ decided: RequestRecord, seconds: Double) async throws -> RequestRecord {
        do {
            let isSettled: @Sendable (AgentEvent) -> Bool = {
                $0.request == decided.id && $0.kind?.emptiesOutbox == true
            }
            let delivered = try await hub.wait(seconds: seconds, on: ports.patience, for: isSettled) {
                let current = try await self.ports.store.read { try $0.request(decided.id) }
                return current?.life.delivery == .queued ? nil : current
            }
            return delivered ?? decided
        } catch is StoreError {
            // The decision is durable. Only the state of its delivery cannot be read.
            return decided
        }
    }

    /// Returns the current state of one request.
    package func request(_ id: RequestID) async throws -> RequestRecord? {
        try await ports.store.read { try $0.request(id) }
    }

    // MARK: Presenting

    /// Returns the text that is shown for a request of this enrollment, or `nil` if it has none.
    package func text(of request: RequestRecord, for enrollment: Enrollment) -> TransactionText? {
        request.text(for: enrollment, settings.localTime)
    }

    package func text(of request: RequestRecord) async throws -> TransactionText? {
        try await enrollment(request.enrollmentId).flatMap { text(of: request, for: $0) }
    }

    // MARK: State

    package func counts() async throws -> (enrollments: Int, pending: Int, queued: Int) {
        try await ports.store.read { store in
            (
                try store.enrollmentCount(), try store.pendingCount(enrollment: nil),
                try store.outboxCount(enrollment: nil)
            )
        }
    }

    /// Returns the number of log lines about a peer that were left out since the last line.
    ///
    /// `nil` if no line about the peer may be written now.
    package func admitLogLine(about peer: String) -> Int? { badPeers.admit(peer, now: ports.clock.now) }

    /// Returns the reason why an enrollment's issuer cannot be reached now, or `nil` if none is known.
    package func trouble(of enrollment: EnrollmentID) -> String? { health.trouble(of: enrollment) }

    /// Returns the last test of an enrollment's key, or `nil` if there was none since the start.
    package func keyTest(of enrollment: EnrollmentID) -> KeyTest? { keyWatch.health.test(of: enrollment) }

    /// The store's current trouble, or `nil` if none is known.
    package var storeError: StoreError? { ports.storeHealth.trouble }

    /// Returns one enrollment, even if it has ended.
    package func enrollment(_ id: EnrollmentID) async throws -> Enrollment? {
        try await ports.store.read { try $0.enrollment(id) }
    }

    /// Returns the first enrollment that has a persona, or `nil` if none has.
    package func firstWithPersona() async throws -> EnrollmentID? {
        try await ports.store.read { try $0.personas(after: nil, limit: 1).first?.enrollment }
    }

    /// Returns the URI of an enrollment's private key.
    package func keyURI(of enrollment: Enrollment) -> String {
        enrollment.key.external?.uri.text ?? enrollment.id.keyURI
    }
}
