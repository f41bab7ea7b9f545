import FoundationEssentials
import IssuerProtocol
import Sandbox
import StrictJSON
import Synchronization

/// Request cases that are listed together for one enrollment, with their outcomes.
struct RequestBatch: Sendable {
    /// The number of cases in a batch: the limit of an answer, less the good request behind them.
    static let size = RequestList.limit - 1
    /// The time for an approver to fetch the list and to answer it.
    private static let limit = Duration.seconds(30)
    private static let lookEvery = Duration.milliseconds(100)
    /// The limit of a case's exchanges, in bytes: those of all cases exist before the first case is reported.
    private static let maxTrace = 32_768

    let cases: [RequestCase]
    let approver: TestedApprover
    let wire: Wire
    let limit: RunLimit

    /// The outcome of a case.
    struct Outcome: Sendable {
        /// The reason for a failure, or `nil` for a case that passed.
        let end: CaseEnd?
        let exchanges: KeptExchanges

        /// Keeps the exchanges only of a case that did not pass.
        init(_ end: CaseEnd?, _ trace: Trace) {
            self.end = end
            exchanges = end == nil ? KeptExchanges() : trace.exchanges
        }
    }

    /// Plays the cases and returns their outcomes by name, without the cases that the run's limit cut off.
    func outcomes() async throws -> [String: Outcome] {
        let played = PlayedBatch()
        try await ScriptedSandboxServer.with(wire.secrets) { issuer in
            let trace = Trace()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        let member = try await Self.enrolled(issuer, approver, wire: wire, trace: trace)
                        try await play(member, issuer, trace, into: played)
                    } catch let end as CaseEnd {
                        guard !Task.isCancelled else { return }
                        for one in cases { played.set(one.header.name, Outcome(end, trace)) }
                    }
                }
                group.addTask { try await Task.sleep(until: limit.end) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        return played.outcomes
    }

    /// Makes the approver enroll.
    static func enrolled(
        _ issuer: ScriptedSandbox, _ approver: TestedApprover, wire: Wire, trace: Trace
    ) async throws -> EnrolledApprover {
        try await issuer.invite { input, variables in
            _ = try await approver.output("enroll", input, variables, wire: wire, trace: trace)
        }
        if let member = issuer.member { return member }
        throw CaseEnd.failed(
            issuer.enrollmentProblem.map { "its registration does not hold: \($0); section 4.2" }
                ?? "its command for `enroll` is over, and no registration came; section 4.2")
    }

    private func play(
        _ member: EnrolledApprover, _ issuer: ScriptedSandbox, _ trace: Trace, into outcomes: PlayedBatch
    ) async throws {
        let now = Int64(Date().timeIntervalSince1970)
        var played: [PlayedRequest] = []
        for one in cases {
            do {
                played.append(try PlayedRequest(one, for: member, at: issuer, approver: approver, now: now))
            } catch let end as CaseEnd {
                outcomes.set(one.header.name, Outcome(end, trace))
            }
        }
        guard let good = cases.first?.unchanged else { return }
        let last = try PlayedRequest(good, for: member, at: issuer, approver: approver, now: now)
        try await issuer.list(played.map(\.message) + [last.message])
        try await approver.fetch(wire: wire, trace: trace)
        try await approve(last, at: issuer, trace, what: "a good request behind the others of an answer")
        let presented = approver.has("pending") ? try await approver.pending(wire: wire, trace: trace) : []
        // All requests share one deadline: none waits for the answer to another.
        let end = ContinuousClock.now + Self.limit
        for one in played {
            let own = Trace(limit: Self.maxTrace)
            own.add(
                Exchange(
                    sent: "listed: \(one.name)", sentBody: Array(one.message.jws.utf8), received: "", receivedBody: [],
                    milliseconds: 0))
            do {
                try await judge(one, at: issuer, presented: presented, own, until: end)
                outcomes.set(one.name, Outcome(nil, own))
            } catch let end as CaseEnd {
                // The run was cancelled, so its calls were interrupted and the outcome is unknown.
                guard !Task.isCancelled else { return }
                outcomes.set(one.name, Outcome(end, own))
            }
        }
    }

    private func judge(
        _ one: PlayedRequest, at issuer: ScriptedSandbox, presented: Set<String>, _ trace: Trace,
        until end: ContinuousClock.Instant
    ) async throws {
        switch one.expected {
        case .inOrder: try await approve(one, at: issuer, trace, what: "the request")
        case .refused:
            guard let came = try await decision(on: one, at: issuer, trace, until: end) else {
                throw CaseEnd.failed("sent no deny for a request that breaks a rule; section 6.1 says it does at once")
            }
            guard case .deny(let reason)? = came.message else {
                throw CaseEnd.failed("approved a request that breaks a rule")
            }
            guard reason == one.reason else {
                throw CaseEnd.failed(
                    "denied with \(reason.rawValue), and not with \(one.reason?.rawValue ?? "")")
            }
        default:
            if let jti = one.message.jti, issuer.decisions.contains(where: { $0.jti == jti }) {
                throw CaseEnd.failed("answered a message that is \(one.expected.rawValue), to which there is no answer")
            }
            if let acsTransId = one.acsTransId, presented.contains(acsTransId.lowercased()) {
                throw CaseEnd.failed("presents a message that is \(one.expected.rawValue)")
            }
        }
    }

    /// Approves a request, and verifies the assertion.
    private func approve(
        _ one: PlayedRequest, at issuer: ScriptedSandbox, _ trace: Trace, what: String
    ) async throws {
        let end = ContinuousClock.now + ApproverScene.decisionLimit
        while try await !approver.decides("approve", one.kitRequest, wire: wire, trace: trace) {
            if let came = issuer.decisions.first(where: { $0.jti == one.message.jti }) {
                try Self.expectValid(came, what)
                return
            }
            guard ContinuousClock.now < end else {
                throw CaseEnd.failed(
                    "did not approve \(what) within \(ApproverScene.decisionLimit.components.seconds) s")
            }
            try await Task.sleep(for: Self.lookEvery)
        }
        let limit = ApproverScene.decisionLimit
        guard let came = try await decision(on: one, at: issuer, trace, until: .now + limit) else {
            throw CaseEnd.failed("approved \(what), and sent no decision within \(limit.components.seconds) s")
        }
        try Self.expectValid(came, what)
    }

    private static func expectValid(_ came: JudgedDecision, _ what: String) throws {
        if case .deny(let reason)? = came.message { throw CaseEnd.failed("denied \(what) with \(reason.rawValue)") }
        if let problem = came.problem {
            throw CaseEnd.failed("approved \(what) with an assertion that does not hold: \(problem)")
        }
    }

    /// Waits for the decision on a request, and returns it, or `nil` at the deadline.
    private func decision(
        on one: PlayedRequest, at issuer: ScriptedSandbox, _ trace: Trace, until end: ContinuousClock.Instant
    ) async throws -> JudgedDecision? {
        while true {
            if let came = issuer.decisions.first(where: { $0.jti == one.message.jti }) {
                trace.add(
                    Exchange(
                        sent: "decision", sentBody: came.body, received: "HTTP \(came.answer.status)",
                        receivedBody: came.answer.body, milliseconds: 0))
                return came
            }
            guard ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: Self.lookEvery)
        }
    }
}

/// The outcomes of a batch so far.
private final class PlayedBatch: Sendable {
    private let all = Mutex<[String: RequestBatch.Outcome]>([:])

    var outcomes: [String: RequestBatch.Outcome] { all.withLock { $0 } }

    func set(_ name: String, _ outcome: RequestBatch.Outcome) { all.withLock { $0[name] = outcome } }
}
