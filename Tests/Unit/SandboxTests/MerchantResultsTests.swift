import Sandbox
import StrictJSON
import Testing

/// What the merchant's libraries would report, and the return URL that they would wait for.
@Suite(.timeLimit(.minutes(20))) struct MerchantResultsTests {
    @Test(
        arguments: [
            ("Y", "authenticate_successful", true, true), ("A", "authenticate_attempt_successful", true, true),
            ("N", "authenticate_failed", false, true), ("U", "authenticate_unable_to_authenticate", false, true),
            ("R", "authenticate_rejected", false, false), ("C", "challenge_required", false, true),
            ("D", "challenge_required", false, true), ("I", "authenticate_error", false, true),
        ])
    func `each transStatus has its Braintree status and liability`(
        transStatus: String, status: String, isShifted: Bool, isPossible: Bool
    ) {
        let result = BraintreeResult(transStatus: transStatus)
        #expect(result.status == status)
        #expect(result.liabilityShifted == isShifted)
        #expect(result.liabilityShiftPossible == isPossible)
    }

    /// The URL in the authn request, and the purchase's sdkTransID.
    private func returnURL(_ members: JSONObject) async throws -> (url: String, sdkTransID: String) {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        return try url(try await issuer.purchase(members))
    }

    private func url(_ purchase: PurchaseView) throws -> (url: String, sdkTransID: String) {
        guard case .string(let id)?? = try purchase.element("sdkTransID", of: "AReq").first else { return ("", "") }
        return (try purchase.json.object("transaction").string("threeDSRequestorAppURL"), id)
    }

    @Test(
        arguments: [
            ("https://m.example/return", "https://m.example/return?transID=<ID>"),
            ("https://m.example/return?a=b", "https://m.example/return?a=b&transID=<ID>"),
            ("https://m.example/return?", "https://m.example/return?transID=<ID>"),
            ("https://m.example/return?a=b&", "https://m.example/return?a=b&transID=<ID>"),
            ("https://m.example/return#there?x", "https://m.example/return?transID=<ID>#there?x"),
            ("com.Example.App:back", "com.Example.App:back?transID=<ID>"), ("my_app:", "my_app:?transID=<ID>"),
        ])
    func `the transID is appended to whatever URL`(url: String, whole: String) async throws {
        let made = try await returnURL(["threeDSRequestorAppURL": .string(url), "appendTransID": true])
        #expect(made.url == whole.replacing("<ID>", with: made.sdkTransID))
    }

    @Test(arguments: [
        ("https://merchant.example/köln", "%C3%B6"), ("https://merchant.example/{orderId}", "template"),
        ("https:", "names no host"),
    ])
    func `a return URL that the agent would refuse is refused at the order, with what to write`(
        url: String, advice: String
    ) async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let reply = await issuer.post("/sandbox/purchases", ["threeDSRequestorAppURL": .string(url)])
        #expect(reply.status == 400)
        #expect(reply.detail?.contains(advice) == true, "\(reply)")
    }

    @Test func `nothing is appended unless it is asked for`() async throws {
        let url = "com.Example.App.payments://return"
        for append in [false, nil] as [JSONValue] {
            #expect(try await returnURL(["threeDSRequestorAppURL": .string(url), "appendTransID": append]).url == url)
        }
        #expect(try await returnURL(["threeDSRequestorAppURL": .string(url)]).url == url)
    }

    @Test func `the same transaction as a new purchase has a transID of its own`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(
            ["threeDSRequestorAppURL": "https://m.example/return?a=b", "appendTransID": true])
        let path = "/sandbox/purchases/\(purchase.acsTransId)/replay"
        let again = try PurchaseView(try await issuer.post(path, ["asNew": true]).object)
        let (old, new) = (try url(purchase), try url(again))
        #expect(old.sdkTransID != new.sdkTransID)
        #expect(new.url == "https://m.example/return?a=b&transID=\(new.sdkTransID)")
        #expect(try await issuer.post(path).object.object("transaction").string("threeDSRequestorAppURL") == old.url)
    }
}
