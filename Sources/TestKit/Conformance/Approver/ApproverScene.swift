import FoundationEssentials
import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import TextAndTime

/// The state of a case against an approver, with an issuer of its own.
struct ApproverScene {
    /// The time limit for an action that the approver takes by itself.
    static let limit = Duration.seconds(30)
    /// The time limit for a decision that a command asks for; `oobctl approve` gives the agent 50 s.
    static let decisionLimit = Duration.seconds(60)
    static let lookEvery = Duration.milliseconds(100)
    private static let lifetime: Int64 = 600

    let approver: TestedApprover
    let issuer: ScriptedSandbox
    let wire: Wire
    let trace: Trace
    let header: CaseHeader

    private struct Listed {
        let request: CaseRequest
        let transaction: JSONObject
        let message: PreparedMessage
    }

    private var requests: [String: Listed] = [:]
    private var sentinels = 0

    init(_ header: CaseHeader, approver: TestedApprover, issuer: ScriptedSandbox, wire: Wire, trace: Trace) {
        self.header = header
        self.approver = approver
        self.issuer = issuer
        self.wire = wire
        self.trace = trace
    }

    mutating func play(_ step: ApproverStep) async throws {
        switch step.action {
        case .discovery(let members):
            issuer.set { state in
                for member in members.members { state.changes[.discovery]?[member.name] = member.value }
            }
        case .enroll(let order): try await enroll(order)
        case .answer(let endpoint, let script, let times):
            issuer.set { $0.scripts[endpoint, default: []] += Array(repeating: script, count: times) }
        case .list(let order): try await list(order)
        case .relist(let name): try await issuer.list([try known(name).message])
        case .cancel(let name, let ahead): try await cancel(name, ahead: ahead)
        case .publish(let names): issuer.set { $0.published = names }
        case .keyMembers(let members): issuer.set { $0.changes[.keys] = members }
        case .approve(let name, let outcome): try await decide("approve", name, outcome)
        case .deny(let name, let outcome): try await decide("deny", name, outcome)
        case .presented(let name, let isPresented): try await presented(name, isPresented)
        case .decision(let expected): try await decision(expected)
        case .none(let name): try await none(name)
        case .asked(let expected): try await asked(expected)
        case .quiet(let endpoint, let seconds): try await quiet(endpoint, seconds: seconds)
        case .batch: issuer.set { $0.changes[.discovery]?["batchFetchEndpoint"] = nil }
        case .end: try await issuer.endEnrollment()
        case .signCount(let more): try await issuer.raiseSignCount(by: UInt32(clamping: more))
        case .restart: try await approver.output("restart", wire: wire, trace: trace)
        }
    }

    private func failed(_ what: String) -> CaseEnd { .failed("\(what); section \(header.section)") }

    private func known(_ name: String) throws -> Listed {
        guard let listed = requests[name] else { throw CaseEnd.broken("the case has no request \(name)") }
        return listed
    }

    private func member() throws -> EnrolledApprover {
        guard let member = issuer.member else { throw CaseEnd.broken("the case has no step `enroll` before") }
        return member
    }

    /// Polls until a condition holds; returns false if it does not within the limit.
    private func eventually(
        within limit: Duration = Self.limit, _ holds: () async throws -> Bool
    ) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while try await !holds() {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: Self.lookEvery)
        }
        return true
    }

    // MARK: Enrollment

    private func enroll(_ order: ApproverStep.EnrollOrder) async throws {
        var options = order.options
        if order.excludesOwn {
            let id = Base64URL.encode(try member().credentialId)
            options["excludeCredentials"] = .array([["type": "public-key", "id": .string(id)]])
        }
        let before = issuer.member?.id
        issuer.set { $0.changes[.options] = options }
        guard let command = approver.commands["enroll"] else { return }
        let output = try await issuer.invite { input, variables in
            try await command.output(
                "enroll", of: input, variables: variables, wire: wire, trace: trace, mayFail: true)
        }
        if order.isRefused {
            guard !output.isDone else { throw failed("enrolled, and should have refused to") }
            guard issuer.member?.id == before else {
                throw failed("sent a registration, and should not have made a key")
            }
            return
        }
        guard output.isDone else { throw failed("did not enroll") }
        guard issuer.member?.id != before else {
            throw failed(
                issuer.enrollmentProblem.map { "its registration does not hold: \($0)" } ?? "sent no registration")
        }
    }

    // MARK: What is listed

    private mutating func list(_ order: ApproverStep.ListOrder) async throws {
        let member = try member()
        let now = Int64(Date().timeIntervalSince1970)
        let random = Base64URL.encode(try SecureRandom.bytes(9))
        var transaction: JSONObject = [
            "acsTransId": .string(UUID().uuidString.lowercased()), "merchantName": "Conformance",
            "purchaseAmount": "100", "purchaseCurrency": "840", "purchaseExponent": "2",
            "purchaseDate": "20231017055638",
        ]
        if let same = order.same { transaction = try known(same).transaction }
        if let other = order.conflicts { transaction["acsTransId"] = try known(other).transaction["acsTransId"] }
        if order.conflicts != nil { transaction["purchaseAmount"] = "10000" }
        let jti = try order.jti.map { try known($0).request.jti } ?? "r\(random)"
        let nonce = try SecureRandom.bytes(16)
        let challenge = try ChallengeCommitment.challenge(nonce: nonce, transaction: transaction)
        let iat = now + Int64(order.ahead)
        let claims: JSONObject = [
            "iss": .string(issuer.url.text), "aud": .string(member.id.text), "jti": .string(jti),
            "iat": .integer(iat), "exp": .integer(iat + Self.lifetime), "nonce": .string(Base64URL.encode(nonce)),
            "transaction": .object(transaction),
            "publicKey": [
                "challenge": .string(Base64URL.encode(challenge)), "rpId": .string(ScriptedSandbox.relyingParty),
                "allowCredentials": [
                    ["type": "public-key", "id": .string(Base64URL.encode(member.credentialId))]
                ], "userVerification": "preferred",
            ],
        ]
        let jws = try signed(claims, typ: .authnRequest, key: order.key)
        let message = PreparedMessage(jti: jti, jws: jws, request: try RequestCheck.request(in: jws)?.request)
        let acsTransId = try transaction.string("acsTransId")
        requests[order.name] = Listed(
            request: CaseRequest(jti: jti, acsTransId: acsTransId), transaction: transaction, message: message)
        if !order.isHeld { try await issuer.list([message]) }
    }

    private func signed(_ claims: JSONObject, typ: CompactJWS.MessageType, key: String) throws -> String {
        let input = CompactJWS.signingInput(kid: key, typ: typ.rawValue, payload: claims.serialized())
        let signature = try issuer.key(named: key).rawSignature(over: input)
        return CompactJWS.compact(signingInput: input, signature: signature)
    }

    private func cancel(_ name: String, ahead: Int) async throws {
        // A cancellation may come before its request: the request is made already, and listed later.
        let request = try known(name).request
        let iat = Int64(Date().timeIntervalSince1970) + Int64(ahead)
        let random = Base64URL.encode(try SecureRandom.bytes(9))
        let claims: JSONObject = [
            "iss": .string(issuer.url.text), "aud": .string(try member().id.text), "jti": .string("c\(random)"),
            "iat": .integer(iat), "exp": .integer(iat + Self.lifetime), "cancels": .string(request.jti),
        ]
        let jws = try signed(claims, typ: .cancellation, key: ScriptedSandbox.keyID)
        try await issuer.list([PreparedMessage(jti: nil, jws: jws, request: nil)])
        if ahead == 0 { try await issuer.withdraw(request.jti) }
    }

    // MARK: What is decided

    private func decide(_ verb: String, _ name: String, _ outcome: ApproverStep.Outcome) async throws {
        let request = try known(name).request
        if outcome == .refused {
            guard try await !approver.decides(verb, request, wire: wire, trace: trace) else {
                throw failed("let \(name) be decided")
            }
            return
        }
        // If the approver decided just before the command's time limit, a second command fails; so the call counts too.
        let done = try await eventually(within: Self.decisionLimit) {
            if try await approver.decides(verb, request, wire: wire, trace: trace), outcome == .decided { return true }
            return issuer.calls.contains { $0.endpoint == .decision && $0.jti == request.jti }
        }
        guard done else { throw failed("did not \(verb) \(name) within \(Self.decisionLimit.components.seconds) s") }
    }

    private func presented(_ name: String, _ isPresented: Bool) async throws {
        let acsTransId = try known(name).request.acsTransId
        let holds = try await eventually {
            try await approver.pending(wire: wire, trace: trace).contains(acsTransId) == isPresented
        }
        guard holds else { throw failed(isPresented ? "does not present \(name)" : "still presents \(name)") }
    }

    /// Returns the last decision on a request, or an accepted one if there is one.
    private func came(for jti: String) -> JudgedDecision? {
        let all = issuer.decisions.filter { $0.jti == jti }
        return all.first(where: \.isTaken) ?? all.last
    }

    private func decision(_ expected: ApproverStep.DecisionExpectation) async throws {
        let jti = try known(expected.request).request.jti
        guard try await eventually(within: Self.decisionLimit, { came(for: jti) != nil }), let decision = came(for: jti)
        else {
            throw failed("sent no decision for \(expected.request) within \(Self.decisionLimit.components.seconds) s")
        }
        if let problem = decision.problem {
            throw failed("sent a decision for \(expected.request) that does not hold: \(problem)")
        }
        switch (decision.message, expected.reason) {
        case (.approve?, nil): break
        case (.deny(let reason)?, let wanted?) where reason == wanted: break
        case (.deny(let reason)?, _): throw failed("denied \(expected.request) with \(reason.rawValue)")
        default: throw failed("approved \(expected.request)")
        }
    }

    private mutating func none(_ name: String) async throws {
        let listed = try known(name)
        try await approveAnother()
        if let decision = came(for: listed.request.jti) {
            throw failed("answered \(name): \(Excerpt(decision.body, limit: 200).shown)")
        }
        guard approver.has("pending") else { return }
        let presented = try await approver.pending(wire: wire, trace: trace)
        let isSame = requests.values.contains { other in
            other.request.acsTransId == listed.request.acsTransId && other.request.jti != listed.request.jti
        }
        guard isSame || !presented.contains(listed.request.acsTransId) else { throw failed("presents \(name)") }
    }

    /// Approves a valid request behind all listed ones: after that, the approver has looked at the others.
    private mutating func approveAnother() async throws {
        sentinels += 1
        let name = "good request \(sentinels)"
        let key = issuer.keyNames.last ?? ScriptedSandbox.keyID
        try await list(ApproverStep.ListOrder(name: name, key: key))
        try await decide("approve", name, .decided)
        try await decision(ApproverStep.DecisionExpectation(request: name, reason: nil))
    }

    private func quiet(_ endpoint: CaseEndpoint, seconds: Int) async throws {
        func count() -> Int { issuer.calls.count { $0.endpoint == endpoint } }
        let before = count()
        try await Task.sleep(for: .seconds(seconds))
        guard count() == before else { throw failed("goes on to call \(endpoint)") }
    }

    private mutating func asked(_ expected: ApproverStep.AskedExpectation) async throws {
        let jti = try expected.request.map { try known($0).request.jti }
        func calls() -> [ApproverCall] {
            issuer.calls.filter { call in
                call.endpoint == expected.endpoint && (jti == nil || call.jti == jti)
                    && !(expected.withoutCursor && call.hasCursor)
            }
        }
        if let least = expected.least {
            let enough = try await eventually { calls().count >= least }
            guard enough else { throw failed("called \(expected.endpoint) \(calls().count) times, and not \(least)") }
        }
        if let exactly = expected.exactly {
            if issuer.member != nil { try await approveAnother() }
            let count = calls().count
            guard count == exactly else {
                throw failed("called \(expected.endpoint) \(count) times, and not \(exactly)")
            }
        }
        guard expected.same, let first = calls().first else { return }
        guard calls().allSatisfy({ $0.body == first.body }) else {
            throw failed("called \(expected.endpoint) again with other bytes")
        }
    }
}
