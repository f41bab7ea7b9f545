import IssuerProtocol
import StrictJSON
import Testing

/// The steps of a purchase's story, and what its `emv` changes.
@Suite struct EMVStoryTests {
    private func steps(_ purchase: PurchaseView) throws -> [String] {
        try purchase.json.array("steps").map { step in
            guard case .object(let object) = step else { return "" }
            return try "\(object.string("from")) \(object.string("to")) \(object.string("label"))"
        }
    }

    private func creq(_ issuer: TestIssuer, _ purchase: PurchaseView, _ body: JSONObject = [:]) async -> Reply {
        await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/creq", body)
    }

    @Test func `the steps tell who told whom what, refused decisions and cancellations among them`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let other = try await issuer.purchase()
        let wrong = try authenticator.approval(of: other.request)
        issuer.pass(seconds: 3)
        _ = await issuer.decide(try purchase.request.jti, wrong, by: authenticator)
        issuer.pass(seconds: 4)
        _ = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel")
        let timeline = try await issuer.timeline(purchase)
        #expect(
            try steps(timeline) == [
                "3dsServer acs AReq", "acs 3dsServer ARes", "sdk acs CReq", "acs sdk CRes",
                "acs authenticator authn request", "authenticator acs decision refused", "sdk acs CReq",
                "acs 3dsServer RReq", "3dsServer acs RRes", "acs sdk CRes", "acs authenticator cancellation",
            ])
        guard case .object(let refused)? = try timeline.json.array("steps").dropFirst(5).first else { return }
        #expect(refused["detail"] == "invalid_assertion")
        #expect(refused["at"] == "2023-10-17T05:56:41Z")
    }

    @Test func `a browser sends one CReq and gets one CRes, without the app channel's elements`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["emv": ["deviceChannel": "02"]])
        _ = await issuer.decide(
            try purchase.request.jti, try authenticator.approval(of: purchase.request), by: authenticator)
        let timeline = try await issuer.timeline(purchase)
        #expect(try timeline.messageTypes == ["AReq", "ARes", "CReq", "outOfBand", "RReq", "RRes", "CRes"])
        for type in ["AReq", "ARes", "CReq", "RReq", "RRes", "CRes"] {
            for name in ["sdkTransID", "acsRenderingType", "sdkCounterStoA", "acsCounterAtoS"] {
                #expect(try timeline.element(name, of: type) == [nil], "\(name) of \(type)")
            }
        }
        #expect(await creq(issuer, purchase).outcome == "409")
    }

    @Test func `before the first CReq the issuer's app is asked nothing`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["emv": ["sdk": "noFirstCReq"]])
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
        issuer.pass(seconds: 29)
        #expect(try await issuer.timeline(purchase).status == "pending")
        #expect(await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel").outcome == "409")
        #expect(await creq(issuer, purchase).outcome == "409")
        issuer.pass(seconds: 1)
        #expect(await creq(issuer, purchase).status == 200)
        let timeline = try await issuer.timeline(purchase)
        #expect(try timeline.messageTypes == ["AReq", "ARes", "RReq", "RRes", "CReq", "Erro"])
        #expect(try timeline.element("challengeCancel", of: "RReq") == ["05"])
    }

    @Test func `after 600 s the final CRes is no longer to be had`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["emv": ["sdk": "noReturn"], "expiresIn": 3_600])
        let decided = try await issuer.enrolled()
        let other = try await issuer.purchase([
            "emv": ["sdk": "noReturn"], "authenticatorId": .string(decided.id),
        ])
        _ = await issuer.decide(try other.request.jti, DecisionBody.deny(.userDenied), by: decided)
        issuer.pass(seconds: 600)
        #expect(await creq(issuer, other).status == 200)
        let timeline = try await issuer.timeline(other)
        #expect(try timeline.messageTypes.suffix(2) == ["CReq", "Erro"])
        #expect(try await issuer.timeline(purchase).status == "pending")
    }

    @Test func `a hundred CReqs are kept of one purchase`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        for _ in 0..<100 { #expect(await creq(issuer, purchase).status == 200) }
        #expect(await creq(issuer, purchase).outcome == "409")
        #expect(try await issuer.timeline(purchase).json["challengeRequests"] == 101)
    }

    @Test func `a purchase made anew goes through EMV as the first did`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let emv: JSONObject = [
            "messageVersion": "2.3.1", "trustListStatus": "E", "authenticationMethod": ["07", "13"],
        ]
        let purchase = try await issuer.purchase(["emv": .object(emv)])
        let reply = await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/replay", ["asNew": true])
        let new = try PurchaseView(reply.object)
        #expect(new.json["emv"] == .object(emv))
        #expect(try new.element("trustListStatus", of: "ARes") == ["E"])
        #expect(try new.element("authenticationMethod", of: "ARes") == [["07", "13"]])
    }
}
