import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// What the timeline says about how decisions came.
@Suite struct DeliveryTests {
    private static let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func traceparentClaim(_ purchase: PurchaseView) throws -> JSONValue? {
        let payload = try CompactJWS.parse(purchase.request.jws).payload
        return try JSONReader.object(payload, limits: JSONLimits(maxBytes: 16_384))["traceparent"]
    }

    @Test(arguments: [traceparent, "", "not a traceparent"])
    func `a purchase's traceparent is a claim of its request, in order or not`(text: String) async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["traceparent": .string(text)])
        #expect(try traceparentClaim(purchase) == .string(text))
        #expect(purchase.json["traceparent"] == .string(text))
    }

    @Test func `a purchase without one has none, and one of 257 bytes is refused`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        #expect(try traceparentClaim(purchase) == nil)
        #expect(purchase.json["traceparent"] == nil)
        let long = String(repeating: "0", count: 257)
        #expect(await issuer.post("/sandbox/purchases", ["traceparent": .string(long)]).status == 400)
    }

    @Test(arguments: [traceparent, nil])
    func `the timeline has the traceparent that the decision came with first`(text: String?) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        for traceparent in [text, "another"] {
            let reply = await issuer.call(
                "POST", "/v1/authn-requests/\(try purchase.request.jti)/decision", token: authenticator.token,
                traceparent: traceparent, body: DecisionBody.deny(.userDenied))
            #expect(reply.status == 200)
        }
        let decision = try await issuer.timeline(purchase).json.object("decision")
        #expect(decision["traceparent"] == text.map(JSONValue.string))
    }

    @Test func `the timeline counts what comes again, apart from what contradicts it`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let jti = try purchase.request.jti
        let body = try authenticator.approval(of: purchase.request)
        for bytes in [body, body, DecisionBody.deny(.userDenied), body] {
            _ = await issuer.decide(jti, bytes, by: authenticator)
        }
        let decision = try await issuer.timeline(purchase).json.object("decision")
        #expect(try decision.integer("repeats") == 2)
        #expect(try decision.integer("conflicts") == 1)
    }
}
