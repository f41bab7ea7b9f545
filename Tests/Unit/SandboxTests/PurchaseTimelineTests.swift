import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// How a purchase ends, and how EMV 3-D Secure's messages tell it.
@Suite(.timeLimit(.minutes(20))) struct PurchaseTimelineTests {
    enum Ending: CaseIterable {
        case approved, denied, fraud, refused, cancelled, expired
    }

    private func ended(_ ending: Ending, _ members: JSONObject = [:]) async throws -> PurchaseView {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(members)
        let jti = try purchase.request.jti
        switch ending {
        case .approved:
            _ = await issuer.decide(jti, try authenticator.approval(of: purchase.request), by: authenticator)
        case .denied: _ = await issuer.decide(jti, DecisionBody.deny(.userDenied), by: authenticator)
        case .fraud: _ = await issuer.decide(jti, DecisionBody.deny(.suspectedFraud), by: authenticator)
        case .refused: _ = await issuer.decide(jti, DecisionBody.deny(.invalidRequest), by: authenticator)
        case .cancelled: _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        case .expired: issuer.pass(seconds: 600)
        }
        return try await issuer.timeline(purchase)
    }

    @Test(
        arguments: [
            (Ending.approved, "authenticated", "Y", nil, nil), (.denied, "notAuthenticated", "N", "01", nil),
            (.fraud, "notAuthenticated", "N", "11", nil), (.refused, "notAuthenticated", "N", "22", nil),
            (.cancelled, "cancelled", "N", "26", "01"), (.expired, "expired", "N", "14", "04"),
        ] as [(Ending, String, JSONValue, JSONValue?, JSONValue?)])
    func `each ending has its own result message`(
        ending: Ending, status: String, transStatus: JSONValue, reason: JSONValue?, cancel: JSONValue?
    ) async throws {
        let timeline = try await ended(ending)
        #expect(timeline.status == status)
        #expect(timeline.json["transStatus"] == transStatus)
        #expect(try timeline.element("transStatus", of: "RReq") == [transStatus])
        #expect(try timeline.element("transStatusReason", of: "RReq") == [reason])
        #expect(try timeline.element("challengeCancel", of: "RReq") == [cancel])
        #expect(try timeline.element("authenticationType", of: "RReq") == ["03"])
        #expect(
            try timeline.element("acsRenderingType", of: "RReq") == timeline.element("acsRenderingType", of: "ARes"))
        #expect(
            try timeline.element("acsRenderingType", of: "RReq") == [["acsInterface": "01", "acsUiTemplate": "04"]])
        #expect(try timeline.element("resultsStatus", of: "RRes") == ["01"])
        // After a time-out no CReq is left that a final CRes could answer.
        #expect(try timeline.element("transStatus", of: "CRes") == (ending == .expired ? [nil] : [nil, transStatus]))
        #expect(
            try timeline.element("challengeCompletionInd", of: "CRes") == (ending == .expired ? ["N"] : ["N", "Y"]))
    }

    @Test(arguments: [
        (Ending.approved, ["AReq", "ARes", "CReq", "CRes", "outOfBand", "CReq", "RReq", "RRes", "CRes"]),
        (.denied, ["AReq", "ARes", "CReq", "CRes", "outOfBand", "CReq", "RReq", "RRes", "CRes"]),
        (.cancelled, ["AReq", "ARes", "CReq", "CRes", "CReq", "RReq", "RRes", "CRes"]),
        (.expired, ["AReq", "ARes", "CReq", "CRes", "RReq", "RRes"]),
    ])
    func `the messages come in the order of the challenge flow`(ending: Ending, types: [String]) async throws {
        #expect(try await ended(ending).messageTypes == types)
    }

    @Test func `a pending purchase is challenged and has no result`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let url = "https://merchant.example/return?transID=1"
        let timeline = try await issuer.purchase(["threeDSRequestorAppURL": .string(url)])
        #expect(try timeline.messageTypes == ["AReq", "ARes", "CReq", "CRes"])
        #expect(try timeline.element("transStatus", of: "ARes") == ["C"])
        #expect(try timeline.element("acsTransID", of: "ARes") == [.string(timeline.acsTransId)])
        #expect(try timeline.element("threeDSRequestorAppURL", of: "CReq") == [.string(url)])
        #expect(try timeline.element("acsUiType", of: "CRes") == ["04"])
        #expect(timeline.json["transStatus"] == nil)
        let merchant = try timeline.json.object("merchant")
        #expect(merchant["liabilityShifted"] == false && merchant["liabilityShiftPossible"] == true)
        #expect(merchant["checkout"] == nil)
        #expect(try merchant.object("braintree").string("status") == "challenge_required")
    }

    @Test(arguments: Ending.allCases)
    func `the liability shifts for what was authenticated alone`(ending: Ending) async throws {
        let merchant = try await ended(ending).json.object("merchant")
        #expect(merchant["liabilityShifted"] == .bool(ending == .approved))
        #expect(merchant["liabilityShiftPossible"] == true)
    }

    @Test func `an authentication without a payment is one of category 02`() async throws {
        let noPayment: JSONObject = [
            "purchaseAmount": nil, "purchaseCurrency": nil, "purchaseExponent": nil, "purchaseDate": nil,
        ]
        let timeline = try await ended(.approved, noPayment)
        #expect(timeline.status == "authenticated")
        #expect(try timeline.element("messageCategory", of: "AReq") == ["02"])
        #expect(try timeline.element("purchaseAmount", of: "AReq") == [nil])
    }

    @Test func `a cancellation takes the place of the request on the list`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 3])
        _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        let list = try await issuer.listed(authenticator)
        let jws = try CompactJWS.parse(try #require(list.requests.first))
        #expect(list.requests.count == 1)
        #expect(jws.type == .cancellation)
        let claims = try JSONReader.object(jws.payload, limits: JSONLimits(maxBytes: 4_096))
        #expect(try claims.string("cancels") == purchase.request.jti)
        #expect(try claims.string("jti") != purchase.request.jti)
        issuer.pass(seconds: 600)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }

    @Test(arguments: [Ending.approved, .denied, .cancelled, .expired])
    func `a completed purchase cannot be cancelled`(ending: Ending) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jti = try purchase.request.jti
        switch ending {
        case .approved:
            _ = await issuer.decide(jti, try authenticator.approval(of: purchase.request), by: authenticator)
        case .cancelled: _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        case .expired: issuer.pass(seconds: 600)
        default: _ = await issuer.decide(jti, DecisionBody.deny(.userDenied), by: authenticator)
        }
        let before = try await issuer.timeline(purchase).json
        #expect(await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel").outcome == "409")
        #expect(try await issuer.timeline(purchase).json == before)
    }

    @Test func `an expired purchase was completed at its expiry, whenever that is looked at`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 60])
        issuer.pass(seconds: 59)
        #expect(try await issuer.timeline(purchase).status == "pending")
        issuer.pass(seconds: 5_000)
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.json["completedAt"] == timeline.json["expiresAt"])
    }

    @Test func `a story is waited for until the purchase is completed`() async throws {
        let issuer = try TestIssuer(waitsEnd: false)
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        async let timeline = issuer.call(
            "GET", "/sandbox/purchases/\(purchase.acsTransId.uppercased())", query: ["wait": "60"])
        while issuer.backend.notifier.waiting == 0, !Task.isCancelled { await Task.yield() }
        _ = await issuer.decide(try purchase.request.jti, DecisionBody.deny(.userDenied), by: authenticator)
        #expect(try PurchaseView(await timeline.object).status == "notAuthenticated")
    }

    @Test func `a wait that is over answers what there is`() async throws {
        let issuer = try TestIssuer(waitsEnd: true)
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let reply = await issuer.call("GET", "/sandbox/purchases/\(purchase.acsTransId)", query: ["wait": "1"])
        #expect(try PurchaseView(reply.object).status == "pending")
    }
}
