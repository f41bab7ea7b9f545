import IssuerProtocol
import StrictJSON
import Testing

/// Decoupled authentication: up to seven days, asked anew each day, and ended by one RReq.
@Suite struct DecoupledTests {
    private func order(_ minutes: String) -> JSONObject {
        ["emv": ["threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": .string(minutes)]]
    }

    private func jtis(_ issuer: TestIssuer, _ purchase: PurchaseView) async throws -> [String] {
        try await issuer.timeline(purchase).json.array("requests").map { request in
            guard case .object(let object) = request else { return "" }
            return try object.string("jti")
        }
    }

    @Test func `a day later whoever fetches gets one new request, however many fetch`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(order("10080"))
        issuer.pass(seconds: 86_399)
        #expect(try await issuer.listed(authenticator).requests.count == 1)
        #expect(try await jtis(issuer, purchase).count == 1)
        issuer.pass(seconds: 1)
        for _ in 0..<3 { #expect(try await issuer.listed(authenticator).requests.count == 1) }
        #expect(try await jtis(issuer, purchase).count == 2)
        #expect(try await issuer.timeline(purchase).status == "pending")
    }

    @Test func `the last request ends with the Requestor's time, and nothing is asked after it`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(order("01450"))
        issuer.pass(seconds: 86_400)
        let request = try #require(try await issuer.listed(authenticator).requests.first)
        let claims = try JSONReader.object(try CompactJWS.parse(request).payload, limits: JSONLimits(maxBytes: 16_384))
        #expect(try claims.integer("exp") == TestIssuer.start + 1_450 * 60)
        issuer.pass(seconds: 600)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
        #expect(try await jtis(issuer, purchase).count == 2)
        let timeline = try await issuer.timeline(purchase)
        #expect(try timeline.messageTypes == ["AReq", "ARes", "RReq", "RRes"])
        #expect(try timeline.element("transStatusReason", of: "RReq") == ["24"])
    }

    @Test func `a decided purchase, and one whose authenticator has ended, is not asked about again`() async throws {
        let issuer = try TestIssuer()
        let (decider, ended) = (try await issuer.enrolled(), try await issuer.enrolled())
        var decided = order("10080")
        decided["authenticatorId"] = .string(decider.id)
        let first = try await issuer.purchase(decided)
        let second = try await issuer.purchase(order("10080"))
        _ = await issuer.decide(try first.request.jti, DecisionBody.deny(.userDenied), by: decider)
        _ = await issuer.post("/sandbox/authenticators/\(ended.id)/revoke")
        issuer.pass(seconds: 86_400)
        #expect(try await issuer.listed(decider).requests.isEmpty)
        #expect(try await jtis(issuer, first).count == 1)
        #expect(try await jtis(issuer, second).count == 1)
    }

    @Test func `it has no challenge that could be cancelled or asked about`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(order("00001"))
        for call in ["cancel", "creq"] {
            let reply = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/\(call)")
            #expect(reply.outcome == "409" && reply.detail?.contains("no challenge") == true)
        }
        var timed = order("00001")
        timed["expiresIn"] = 60
        #expect(await issuer.post("/sandbox/purchases", timed).detail?.hasPrefix("expiresIn: ") == true)
    }
}
