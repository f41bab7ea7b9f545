import IssuerProtocol
import StrictJSON
import Testing

@Suite struct DecisionTests {
    @Test func `the same decision is answered the same, another one is already decided`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jti = try purchase.request.jti
        let body = try authenticator.approval(of: purchase.request)
        let first = await issuer.decide(jti, body, by: authenticator)
        issuer.pass(seconds: 10_000)
        let second = await issuer.decide(jti, body, by: authenticator)
        #expect(first.outcome == "200")
        #expect(second.bytes == first.bytes)
        let other = DecisionBody.deny(.userDenied)
        #expect(await issuer.decide(jti, other, by: authenticator).outcome == "409 already_decided")
        #expect(await issuer.decide(jti, body + [0x20], by: authenticator).outcome == "409 already_decided")
        #expect(try await issuer.timeline(purchase).status == "authenticated")
    }

    @Test func `a second approval with a greater signCount changes nothing and is told`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jti = try purchase.request.jti
        let first = try authenticator.approval(of: purchase.request, signCount: 1)
        #expect(await issuer.decide(jti, first, by: authenticator).outcome == "200")
        let second = try authenticator.approval(of: purchase.request, signCount: 2)
        #expect(await issuer.decide(jti, second, by: authenticator).outcome == "409 already_decided")
        let denial = DecisionBody.deny(.userDenied)
        #expect(await issuer.decide(jti, denial, by: authenticator).outcome == "409 already_decided")
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "authenticated")
        #expect(try timeline.json.object("decision").integer("conflicts") == 2)
        #expect(try refusals(timeline) == ["409 already_decided", "409 already_decided"])
        let status = await issuer.call("GET", "/v1/authenticator", token: authenticator.token)
        #expect(try status.decoded(AuthenticatorStatus.init(bytes:)).signCount == 1)
    }

    private func refusals(_ timeline: PurchaseView) throws -> [String] {
        try timeline.request.json.array("refusedDecisions").map { element in
            guard case .object(let refused) = element else { return "" }
            return try "\(refused.integer("status")) \(refused.string("code"))"
        }
    }

    @Test func `the story tells the first ten decisions that were not taken`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 60])
        let jti = try purchase.request.jti
        for _ in 0..<2 { _ = await issuer.decide(jti, Array("{".utf8), by: authenticator) }
        issuer.pass(seconds: 60)
        let late = try authenticator.approval(of: purchase.request)
        for _ in 0..<9 { #expect(await issuer.decide(jti, late, by: authenticator).outcome == "410 expired") }
        let timeline = try await issuer.timeline(purchase)
        let expected = ["400 invalid_request", "400 invalid_request"] + Array(repeating: "410 expired", count: 8)
        #expect(try refusals(timeline) == expected)
        #expect(try timeline.element("transStatusReason", of: "RReq") == ["14"])
    }

    @Test(arguments: ["unenrolled", "revoked"])
    func `what is open when the enrollment ends runs into its expiry, and the story says why`(
        ending: String
    ) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 60])
        #expect(try purchase.json.string("authenticatorState") == "active")
        if ending == "unenrolled" {
            #expect(await issuer.call("DELETE", "/v1/authenticator", token: authenticator.token).status == 204)
        } else {
            #expect(await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke").status == 200)
        }
        let body = try authenticator.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "401 invalid_token")
        let open = try await issuer.timeline(purchase)
        #expect(try open.status == "pending" && open.json.string("authenticatorState") == ending)
        issuer.pass(seconds: 60)
        #expect(try await issuer.timeline(purchase).status == "expired")
    }

    @Test(arguments: DenyReason.allCases)
    func `a deny of the only request completes the purchase with N`(reason: DenyReason) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jti = try purchase.request.jti
        for _ in 0..<2 {
            let reply = await issuer.decide(jti, DecisionBody.deny(reason), by: authenticator)
            #expect(try reply.decoded(DecisionAnswer.init(bytes:)).transStatus == .notAuthenticated)
        }
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "notAuthenticated")
        #expect(try timeline.json.object("decision").string("reason") == reason.rawValue)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }

    @Test func `a decided request leaves the list, the others stay`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase(["repeat": 10])
        let second = try await issuer.purchase()
        #expect(try await issuer.listed(authenticator).requests.count == 11)
        let body = try authenticator.approval(of: first.request)
        _ = await issuer.decide(try first.request.jti, body, by: authenticator)
        #expect(try await issuer.listed(authenticator).requests == [try second.request.jws])
    }

    @Test(arguments: ["nobody's", "", "a.b", "x y", "ä"])
    func `a jti that is not listed for this authenticator is unknown`(jti: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        _ = try await issuer.purchase()
        let reply = await issuer.decide(jti, DecisionBody.deny(.userDenied), by: authenticator)
        #expect(reply.outcome == "404 unknown_request")
    }

    @Test func `another authenticator's request is unknown`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let second = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["authenticatorId": .string(first.id)])
        let reply = await issuer.decide(try purchase.request.jti, DecisionBody.deny(.userDenied), by: second)
        #expect(reply.outcome == "404 unknown_request")
        #expect(try await issuer.timeline(purchase).status == "pending")
    }

    @Test func `a decision at the expiry is too late, one second before it is not`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase(["expiresIn": 60])
        let second = try await issuer.purchase(["expiresIn": 60])
        issuer.pass(seconds: 59)
        let early = try authenticator.approval(of: first.request, signCount: 1)
        #expect(await issuer.decide(try first.request.jti, early, by: authenticator).outcome == "200")
        issuer.pass(seconds: 1)
        let late = try authenticator.approval(of: second.request, signCount: 2)
        #expect(await issuer.decide(try second.request.jti, late, by: authenticator).outcome == "410 expired")
        #expect(try await issuer.timeline(second).status == "expired")
    }

    @Test func `a request that was taken back is cancelled`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        let body = try authenticator.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "410 cancelled")
        #expect(try await issuer.timeline(purchase).status == "cancelled")
    }

    @Test func `a revoked authenticator decides nothing`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        _ = await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke")
        let body = try authenticator.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "401 invalid_token")
        #expect(try await issuer.timeline(purchase).status == "pending")
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"decision":"approve"}"#, #"{"decision":"deny"}"#, #"{"decision":"deny","reason":"other"}"#,
        #"{"decision":"maybe"}"#, #"{"decision":"deny","decision":"deny","reason":"userDenied"}"#,
    ])
    func `a body that cannot be read decides nothing`(body: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let reply = await issuer.decide(try purchase.request.jti, Array(body.utf8), by: authenticator)
        #expect(reply.outcome == "400 invalid_request")
        #expect(try await issuer.timeline(purchase).status == "pending")
    }

    @Test func `an approval under one jti completes the purchase, the other jti's duplicate is taken`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 2, "newJti": true])
        let (older, newer) = (purchase.requests[0], purchase.requests[1])
        let body = try authenticator.approval(of: newer)
        #expect(await issuer.decide(newer.jti, body, by: authenticator).outcome == "200")
        let duplicate = await issuer.decide(older.jti, DecisionBody.deny(.duplicate), by: authenticator)
        #expect(try duplicate.decoded(DecisionAnswer.init(bytes:)).transStatus == .notAuthenticated)
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "authenticated")
        #expect(try timeline.json.object("decision").string("jti") == newer.jti)
    }

    @Test(arguments: [DenyReason.duplicate, .invalidRequest, .policy])
    func `what the software says of one jti leaves the other to the payer`(reason: DenyReason) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 2, "newJti": true])
        _ = await issuer.decide(purchase.requests[0].jti, DecisionBody.deny(reason), by: authenticator)
        #expect(try await issuer.timeline(purchase).status == "pending")
        let body = try authenticator.approval(of: purchase.requests[1])
        #expect(await issuer.decide(purchase.requests[1].jti, body, by: authenticator).outcome == "200")
        #expect(try await issuer.timeline(purchase).status == "authenticated")
    }

    @Test(arguments: [DenyReason.userDenied, .suspectedFraud])
    func `the payer's no to one jti is a no to the purchase`(reason: DenyReason) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 2, "newJti": true])
        _ = await issuer.decide(purchase.requests[1].jti, DecisionBody.deny(reason), by: authenticator)
        #expect(try await issuer.timeline(purchase).status == "notAuthenticated")
        let body = try authenticator.approval(of: purchase.requests[0])
        let reply = await issuer.decide(purchase.requests[0].jti, body, by: authenticator)
        #expect(reply.outcome == "409 already_decided")
        #expect(try await issuer.timeline(purchase).status == "notAuthenticated")
    }

    @Test func `a conflict's deny leaves the first transaction to the payer`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase()
        let conflict = try await issuer.purchase([
            "acsTransId": .string(first.acsTransId), "purchaseAmount": "999", "force": true,
        ])
        _ = await issuer.decide(try conflict.request.jti, DecisionBody.deny(.invalidRequest), by: authenticator)
        #expect(try await issuer.timeline(first).status == "pending")
        let body = try authenticator.approval(of: first.request)
        #expect(await issuer.decide(try first.request.jti, body, by: authenticator).outcome == "200")
        let timeline = try await issuer.timeline(first)
        #expect(timeline.status == "authenticated")
        guard case .object(let other)? = try timeline.json.array("others", count: 1...1).first else { return }
        #expect(try other.string("status") == "notAuthenticated")
    }

    @Test func `twenty decisions at once complete a purchase once`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 10, "newJti": true])
        let outcomes = try await withThrowingTaskGroup(of: (Bool, String).self) { group in
            for (index, request) in purchase.requests.enumerated() {
                let approval = try authenticator.approval(of: request, signCount: UInt32(index + 1))
                group.addTask { (true, await issuer.decide(request.jti, approval, by: authenticator).outcome) }
                let denial = DecisionBody.deny(.userDenied)
                group.addTask { (false, await issuer.decide(request.jti, denial, by: authenticator).outcome) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let approved = outcomes.count { isApproval, outcome in isApproval && outcome == "200" }
        let timeline = try await issuer.timeline(purchase)
        #expect(approved == (timeline.status == "authenticated" ? 1 : 0))
        #expect(try timeline.element("transStatus", of: "CRes").count == 2)
        #expect(try timeline.messageTypes.filter { $0 == "RReq" }.count == 1)
    }
}
