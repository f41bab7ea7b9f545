import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Testing
import ThreeDS
import WebAuthn

/// Purchases whose assertion has the form of Secure Payment Confirmation.
@Suite struct PaymentPurchaseTests {
    private static let order: JSONObject = [
        "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "assertion": "payment.get",
        "merchantName": "CoffeeHouse2 (Dæmø)", "purchaseAmount": "12345", "purchaseCurrency": "978",
        "purchaseDate": "20231017055638", "payeeOrigin": "https://merchant.example",
        "instrument": ["displayName": "Visa 4242", "icon": "https://issuer.example/icon.png"],
    ]

    /// What an assertion for that order says; a test changes one member.
    private static func said(
        rpId: String = "localhost", topOrigin: String = "http://localhost:8080",
        payeeName: String = "CoffeeHouse2 (Dæmø)", payeeOrigin: String? = "https://merchant.example",
        value: String = "123.45", currency: String = "EUR", icon: String = "https://issuer.example/icon.png",
        displayName: String = "Visa 4242"
    ) -> PaymentClientData {
        PaymentClientData(
            rpId: rpId, topOrigin: topOrigin, payeeName: payeeName, payeeOrigin: payeeOrigin,
            total: PaymentClientData.Total(value: value, currency: currency),
            instrument: PaymentClientData.Instrument(icon: icon, displayName: displayName))
    }

    private func results(_ verdict: [JSONValue]) throws -> [String: String] {
        var results: [String: String] = [:]
        for case .object(let check) in verdict { results[try check.string("check")] = try check.string("result") }
        return results
    }

    @Test func `an agent can read the request, which asks for what was ordered`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(Self.order)
        let facts = EnrollmentFacts(
            issuer: try IssuerURL(issuer.site.origin), authenticatorId: try #require(TokenID(authenticator.id)),
            rpId: "localhost", credentialId: authenticator.credentialId, canVerifyUser: false,
            exponentPolicy: .refuse)
        let keys = try await issuer.call("GET", "/jwks.json").decoded(JWKSet.init(json:))
        let reading = AuthnRequestReader.read(try purchase.request.jws, for: facts, keys: keys, now: issuer.now)
        guard case .request(let read) = reading, case .inOrder(let request) = read.verdict else {
            Issue.record("\(reading)")
            return
        }
        let payment = try #require(request.payment)
        #expect(payment.payeeOrigin == "https://merchant.example")
        #expect(payment.displayName == "Visa 4242" && payment.icon == "https://issuer.example/icon.png")
    }

    @Test func `an assertion that says what was ordered completes it, and each member was checked`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(Self.order)
        let body = try authenticator.approval(of: purchase.request, payment: Self.said())
        #expect(await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "200")
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "authenticated")
        #expect(try timeline.json.string("assertion") == "payment.get")
        #expect(try timeline.json.object("payment").object("instrument").string("displayName") == "Visa 4242")
        let results = try results(timeline.json.array("verdict"))
        for check in ["paymentRpId", "paymentTopOrigin", "payeeName", "payeeOrigin", "total", "instrument"] {
            #expect(results[check] == "passed", "\(check)")
        }
    }

    @Test(
        arguments: [
            ("paymentRpId", said(rpId: "example.com")), ("paymentTopOrigin", said(topOrigin: "http://localhost:1")),
            ("payeeName", said(payeeName: "CoffeeHouse2")), ("payeeOrigin", said(payeeOrigin: nil)),
            ("payeeOrigin", said(payeeOrigin: "https://other.example")), ("total", said(value: "12.345")),
            ("total", said(currency: "USD")), ("instrument", said(icon: "https://issuer.example/other.png")),
            ("instrument", said(displayName: "Visa 4243")),
        ] as [(String, PaymentClientData)])
    func `an assertion that says anything else is refused`(check: String, said: PaymentClientData) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(Self.order)
        let body = try authenticator.approval(of: purchase.request, payment: said)
        #expect(
            await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "422 invalid_assertion")
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "pending")
        guard case .object(let refused)? = try timeline.request.json.array("refusedAssertions").first else {
            Issue.record("nothing was kept")
            return
        }
        #expect(try results(refused.array("verdict")).filter { $0.value == "failed" }.map(\.key) == [check])
    }

    @Test func `the two forms do not stand for each other`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let payment = try await issuer.purchase(Self.order)
        let plain = try await issuer.purchase()
        for body in try [
            (payment, authenticator.approval(of: payment.request)),
            (plain, authenticator.approval(of: plain.request, payment: Self.said())),
        ] {
            let reply = await issuer.decide(try body.0.request.jti, body.1, by: authenticator)
            #expect(reply.outcome == "422 invalid_assertion")
            #expect(reply.detail?.hasPrefix("type: ") == true, "\(reply)")
        }
        let right = try authenticator.approval(of: plain.request)
        _ = await issuer.decide(try plain.request.jti, right, by: authenticator)
        let timeline = try await issuer.timeline(plain).json
        #expect(try results(timeline.array("verdict"))["total"] == nil)
        #expect(try timeline.string("assertion") == "webauthn.get")
    }

    @Test(
        arguments: [
            ("payeeOrigin", "http://merchant.example"), ("payeeOrigin", 1), ("instrument", "Visa"),
            ("instrument", ["displayName": ""]), ("instrument", ["icon": "http://merchant.example/icon.png"]),
        ] as [(String, JSONValue)])
    func `a wrong member of a payment is refused and named`(name: String, value: JSONValue) async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        var order = Self.order
        order[name] = value
        let reply = await issuer.post("/sandbox/purchases", order)
        #expect(reply.status == 400)
        #expect(reply.detail?.contains(name) == true, "\(reply)")
    }

    @Test func `there is no payment without a purchase`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let reply = await issuer.post(
            "/sandbox/purchases",
            [
                "assertion": "payment.get", "purchaseAmount": nil, "purchaseCurrency": nil, "purchaseExponent": nil,
                "purchaseDate": nil,
            ])
        #expect(reply.detail == "assertion: payment.get needs the purchase members")
    }

    @Test func `what a payment order leaves out gets a default that is in order`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let bare = try await issuer.purchase(["assertion": "payment.get"]).json.object("payment")
        #expect(try PaymentExtension(json: bare).payeeOrigin == nil)
        let named = try await issuer.purchase([
            "assertion": "payment.get", "payeeOrigin": nil, "instrument": ["displayName": "Visa"],
        ]).json.object("payment")
        let payment = try PaymentExtension(json: named)
        #expect(payment.displayName == "Visa" && payment.payeeOrigin == nil)
        #expect(try payment.icon == PaymentExtension(json: bare).icon)
    }

    @Test func `the same transaction with another instrument is another purchase`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        _ = try await issuer.purchase(Self.order)
        var other = Self.order
        other["instrument"] = ["displayName": "Visa 4243"]
        other["repeat"] = 1
        #expect(await issuer.post("/sandbox/purchases", other).outcome == "409")
        var again = Self.order
        again["repeat"] = 1
        #expect(await issuer.post("/sandbox/purchases", again).outcome == "201")
    }
}
