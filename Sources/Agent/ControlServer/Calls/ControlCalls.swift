import Authenticator
import Control
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import ServiceLifecycle
import ThreeDS

/// The calls of the control API.
///
/// Each parses its arguments into the core's types, calls the core and makes views.
struct ControlCalls: Sendable {
    /// Limit for requests in a row that others decide first; then `next` gives up.
    private static let maxTries = 256

    let agent: Agent
    let copier: any StateCopier
    /// `nil` in a build without personas.
    let cardholders: (any CardholderControl)?
    let log: Logger
    let responses: ResponseQueue
    let eventReaders: EventReaders
    let eventNotifier: EventNotifier
    let longResponses = LongResponseQueue()
    let quota = CommandQuota()
    let rotations = PushRotations()
    let backupTurns: BackupTurns
    /// A fetch of all enrollments makes so many calls to issuers that a user gets only one at a time.
    let fetchesOfAll = OngoingCalls(
        ofProcess: 1, ofUser: 1, ofAll: 8, kept: 2,
        refusal: TooManyCallsError(
            "a fetch of all enrollments is under way for this user, or 8 for others", seconds: 5))

    init(
        agent: Agent, copier: any StateCopier, cardholders: (any CardholderControl)? = nil,
        clock: any AgentClock, log: Logger
    ) {
        self.agent = agent
        self.copier = copier
        backupTurns = BackupTurns(clock: clock)
        self.cardholders = cardholders
        self.log = log
        responses = ResponseQueue()
        let readers = EventReaders(
            newest: { agent.journal.newestTold }, look: { try await agent.encodedEvents(after: $0) })
        eventReaders = readers
        eventNotifier = agent.journal.notifier { readers.areThere }
    }

    func requests(_ query: RequestQuery) async throws -> Answer {
        let enrollment = try await id(of: query.enrollment)
        // Load one row more than the answer has, to see whether there is a next page.
        var records = try await agent.requests(
            pendingOnly: !query.all, enrollment: enrollment, page: query.page, limit: query.limit + 1)
        let next = query.takeNext(from: &records)
        let enrollments = try await agent.enrollments(of: records)
        var answer = try Answer.json(records.map { RequestView($0, enrollment: enrollments[$0.enrollmentId]) })
        answer.next = next.map { query.target(of: $0, in: .requests, enrollment: enrollment) }
        return answer
    }

    func request(_ name: String, _ query: RequestQuery) async throws -> Answer {
        let found = try await agent.found(
            try selector(name), enrollment: try await id(of: query.enrollment), wait: 0)
        let text = found.enrollment.flatMap { agent.text(of: found.request, for: $0) }
        return try .json(try detailed(found.request, of: found.enrollment, showing: text))
    }

    /// Waits only while the client is connected; decides neither after it hung up nor after its deadline.
    func decide(
        _ decision: Decision, on name: String, with command: DecideCommand, for client: ControlConnection
    ) async throws -> Answer {
        guard decision == .approve || command.pin == nil else {
            throw ControlError(.invalidArgument, "pin: goes with approve only; a deny takes none")
        }
        let (decision, selector) = (try decision.inTheCore(command.reason), try selector(name))
        let pin = try command.pin.map { text throws(ControlError) in try PIN(text, as: "pin") }
        let (expectations, enrollment) = (try Expectations(command), try await id(of: command.enrollment))
        let peer = ControlPeer(client.caller)
        let approver = Approver.command(peer, shownTextDigest: command.shownTextDigest)
        let wanted = agent.wanted(
            for: Double(command.secondsToDecide), before: command.decideBefore.map(Int64.init))
        let decided = try await decided(selector, enrollment, wait: command.wait ?? 0, for: client) { id in
            // A PIN attempt is counted to its end. So the hang-up withdraws the decision and does not cancel the task.
            try await client.telling({ wanted.withdraw() }) {
                try await agent.decided(
                    decision, on: id, expecting: expectations, by: approver, pin: pin, while: wanted)
            }
        }
        log.info(
            "decided",
            metadata: peer.logged([
                "request": "\(decided.request.id)", "decision": decision == .approve ? "approve" : "deny",
            ]))
        let seconds = Double(command.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout)
        var record = decided.request
        if seconds > 0 { record = try await client.whileThere { try await settled(decided.request, seconds: seconds) } }
        return try .json(try detailed(record, of: decided.enrollment, showing: decided.text))
    }

    /// Waits for the request that a selector means, and decides it.
    ///
    /// If another client decided it first, `next` selects again, for the time that is left.
    private func decided(
        _ selector: Authenticator.RequestSelector, _ enrollment: EnrollmentID?, wait: Int,
        for client: ControlConnection, decide: (RequestID) async throws -> DecidedRequest
    ) async throws -> DecidedRequest {
        let end = ContinuousClock.now + .seconds(wait)
        var (seconds, triesLeft) = (Double(wait), Self.maxTries)
        var last: RequestID?
        while true {
            let id = try await self.id(of: selector, enrollment, wait: seconds, for: client)
            do {
                return try await decide(id)
            } catch let failure as CommandError where selector == .next && failure.code == .noLongerDecidable {
                triesLeft -= 1
                // A request that is next again has expired, but the agent has not closed it yet.
                guard triesLeft > 0, id != last else { throw failure }
                last = id
                seconds = max(0, (end - .now) / .seconds(1)).rounded(.down)
            }
        }
    }

    private func id(
        of selector: Authenticator.RequestSelector, _ enrollment: EnrollmentID?, wait seconds: Double,
        for client: ControlConnection
    ) async throws -> RequestID {
        guard seconds > 0 else { return try await agent.id(of: selector, enrollment: enrollment, wait: 0) }
        // Usually the request is there already, so do not wait.
        if let id = try await agent.idNow(of: selector, enrollment: enrollment) { return id }
        return try await client.whileThere {
            try await agent.id(of: selector, enrollment: enrollment, wait: seconds)
        }
    }

    /// Waits for the issuer's answer, except at shutdown: after its next start, the agent delivers the decision.
    private func settled(_ decided: RequestRecord, seconds: Double) async throws -> RequestRecord {
        do {
            return try await cancelWhenGracefulShutdown { try await agent.delivered(decided, seconds: seconds) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            return decided
        }
    }

    /// The enrollment of a filter, by id, name or unique prefix of an id, or `nil` for all.
    func id(of name: String?) async throws -> EnrollmentID? {
        guard let name else { return nil }
        return try await agent.enrollment(named: name, includingEnded: true).id
    }

    private func detailed(
        _ record: RequestRecord, of enrollment: Enrollment?, showing text: TransactionText?
    ) throws -> RequestView {
        var view = RequestView(record, enrollment: enrollment)
        view.text = text?.text
        view.textDigest = try text?.digest
        view.authnType = enrollment?.authnType.rawValue
        view.clock = testClock
        return view
    }

    func selector(_ name: String) throws(ControlError) -> Authenticator.RequestSelector {
        guard let selector = Authenticator.RequestSelector(name) else {
            throw ControlError(
                .invalidArgument, "a request is named by next, or 1 to 64 characters of A-Z a-z 0-9 _ -")
        }
        return selector
    }
}
