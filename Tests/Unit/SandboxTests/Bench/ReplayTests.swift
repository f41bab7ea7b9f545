import IssuerProtocol
import StrictJSON
import Testing

@Suite struct ReplayTests {
    private func replay(_ issuer: TestIssuer, _ purchase: PurchaseView, _ body: JSONObject = [:]) async -> Reply {
        await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/replay", body)
    }

    @Test func `the request is listed again as it was, also after its decision`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jws = try purchase.request.jws
        #expect(await replay(issuer, purchase).status == 200)
        #expect(try await issuer.listed(authenticator).requests == [jws, jws])
        let body = try authenticator.approval(of: purchase.request)
        _ = await issuer.decide(try purchase.request.jti, body, by: authenticator)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
        let again = await replay(issuer, purchase, ["asNew": false])
        #expect(try PurchaseView(again.object).status == "authenticated")
        #expect(try await issuer.listed(authenticator).requests == [jws])
    }

    @Test func `as new it is the same transaction under an acsTransId of its own`() async throws {
        let issuer = try TestIssuer()
        let older = try await issuer.enrolled()
        let purchase = try await issuer.purchase([
            "merchantName": "CoffeeHouse2 (Dæmø)", "loyalty": "12", "assertion": "payment.get", "expiresIn": 77,
            "userVerification": "required", "push": "none",
        ])
        _ = try await issuer.enrolled()
        issuer.pass(seconds: 100)
        let reply = await replay(issuer, purchase, ["asNew": true])
        #expect(reply.status == 201)
        let new = try PurchaseView(reply.object)
        #expect(new.acsTransId != purchase.acsTransId)
        var transaction = try purchase.json.object("transaction")
        transaction["acsTransId"] = .string(new.acsTransId)
        #expect(try new.json.object("transaction") == transaction)
        for name in ["authenticatorId", "assertion", "payment", "userVerification", "push"] {
            #expect(new.json[name] == purchase.json[name], "\(name)")
        }
        #expect(try new.json.string("authenticatorId") == older.id)
        #expect(try new.request.json.integer("exp") == issuer.now + 77)
        #expect(try await issuer.timeline(purchase).status == "expired")
        let body = try older.approval(of: new.request)
        #expect(await issuer.decide(try new.request.jti, body, by: older).outcome == "422 invalid_assertion")
    }

    @Test func `what cannot be replayed is told`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 60])
        #expect(await replay(issuer, purchase, ["asnew": true]).detail?.contains("did you mean asNew?") == true)
        #expect(await replay(issuer, purchase, ["asNew": "yes"]).outcome == "400 invalid_request")
        issuer.pass(seconds: 60)
        let expired = await replay(issuer, purchase)
        #expect(expired.outcome == "409" && expired.detail?.contains("asNew") == true)
        _ = await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke")
        #expect(await replay(issuer, purchase, ["asNew": true]).detail?.contains("revoked") == true)
        let nobody = await issuer.post("/sandbox/purchases/00000000-0000-0000-0000-000000000000/replay")
        #expect(nobody.outcome == "404")
    }
}
