import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// How a purchase ends, and how EMV 3-D Secure's messages tell it.
@Suite(.timeLimit(.minutes(10))) struct StoryTests {
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
            _ = await issuer.decide(jti, try authenticator.approval(of: purchase.request), authenticator)
        case .denied: _ = await issuer.decide(jti, DecisionBody.deny(.userDenied), authenticator)
        case .fraud: _ = await issuer.decide(jti, DecisionBody.deny(.suspectedFraud), authenticator)
        case .refused: _ = await issuer.decide(jti, DecisionBody.deny(.invalidRequest), authenticator)
        case .cancelled: _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        case .expired: issuer.pass(seconds: 600)
        }
        return try await issuer.story(purchase)
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
        let story = try await ended(ending)
        #expect(story.status == status)
        #expect(story.json["transStatus"] == transStatus)
        #expect(try story.element("transStatus", of: "RReq") == [transStatus])
        #expect(try story.element("transStatusReason", of: "RReq") == [reason])
        #expect(try story.element("challengeCancel", of: "RReq") == [cancel])
        #expect(try story.element("authenticationType", of: "RReq") == ["03"])
        #expect(try story.element("acsRenderingType", of: "RReq") == story.element("acsRenderingType", of: "ARes"))
        #expect(try story.element("acsRenderingType", of: "RReq") == [["acsInterface": "01", "acsUiTemplate": "04"]])
        #expect(try story.element("resultsStatus", of: "RRes") == ["01"])
        // After a time-out no CReq is left that a final CRes could answer.
        #expect(try story.element("transStatus", of: "CRes") == (ending == .expired ? [nil] : [nil, transStatus]))
        #expect(try story.element("challengeCompletionInd", of: "CRes") == (ending == .expired ? ["N"] : ["N", "Y"]))
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
        let story = try await issuer.purchase(["threeDSRequestorAppURL": .string(url)])
        #expect(try story.messageTypes == ["AReq", "ARes", "CReq", "CRes"])
        #expect(try story.element("transStatus", of: "ARes") == ["C"])
        #expect(try story.element("acsTransID", of: "ARes") == [.string(story.acsTransId)])
        #expect(try story.element("threeDSRequestorAppURL", of: "CReq") == [.string(url)])
        #expect(try story.element("acsUiType", of: "CRes") == ["04"])
        #expect(story.json["transStatus"] == nil)
        #expect(try story.json.object("merchant") == ["liabilityShifted": false, "liabilityShiftPossible": true])
    }

    @Test(arguments: Ending.allCases)
    func `the liability shifts for what was authenticated alone`(ending: Ending) async throws {
        let merchant = try await ended(ending).json.object("merchant")
        #expect(merchant == ["liabilityShifted": .bool(ending == .approved), "liabilityShiftPossible": true])
    }

    @Test func `an authentication without a payment is one of category 02`() async throws {
        let noPayment: JSONObject = [
            "purchaseAmount": nil, "purchaseCurrency": nil, "purchaseExponent": nil, "purchaseDate": nil,
        ]
        let story = try await ended(.approved, noPayment)
        #expect(story.status == "authenticated")
        #expect(try story.element("messageCategory", of: "AReq") == ["02"])
        #expect(try story.element("purchaseAmount", of: "AReq") == [nil])
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
        let claims = try JSONReader.object(jws.payload, limits: JSONLimits(maxOctets: 4_096))
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
        case .approved: _ = await issuer.decide(jti, try authenticator.approval(of: purchase.request), authenticator)
        case .cancelled: _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        case .expired: issuer.pass(seconds: 600)
        default: _ = await issuer.decide(jti, DecisionBody.deny(.userDenied), authenticator)
        }
        let before = try await issuer.story(purchase).json
        #expect(await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel").outcome == "409")
        #expect(try await issuer.story(purchase).json == before)
    }

    @Test func `an expired purchase was completed at its expiry, whenever that is looked at`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 60])
        issuer.pass(seconds: 59)
        #expect(try await issuer.story(purchase).status == "pending")
        issuer.pass(seconds: 5_000)
        let story = try await issuer.story(purchase)
        #expect(story.json["completedAt"] == story.json["expiresAt"])
    }

    @Test func `a story is waited for until the purchase is completed`() async throws {
        let issuer = try TestIssuer(waitsEnd: false)
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        async let story = issuer.call(
            "GET", "/sandbox/purchases/\(purchase.acsTransId.uppercased())", query: ["wait": "60"])
        while issuer.backend.bell.waiting == 0, !Task.isCancelled { await Task.yield() }
        _ = await issuer.decide(try purchase.request.jti, DecisionBody.deny(.userDenied), authenticator)
        #expect(try PurchaseView(await story.object).status == "notAuthenticated")
    }

    @Test func `a wait that is over answers what there is`() async throws {
        let issuer = try TestIssuer(waitsEnd: true)
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let reply = await issuer.call("GET", "/sandbox/purchases/\(purchase.acsTransId)", query: ["wait": "1"])
        #expect(try PurchaseView(reply.object).status == "pending")
    }
}
