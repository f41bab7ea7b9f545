import IssuerProtocol
import Keys
import StrictJSON
import Testing

/// The calls for whoever drives a test.
@Suite struct SandboxCallTests {
    private static let acsTransId = "2f37539c-d82e-4929-88db-2f9e72c7fa62"

    @Test(
        arguments: [
            ("expiresIn", 0), ("expiresIn", 86_401), ("expiresIn", "600"), ("repeat", 0), ("repeat", 1_001),
            ("newJti", "yes"), ("force", 1), ("userVerification", "always"), ("assertion", "other"),
            ("payeeOrigin", "https://merchant.example"), ("instrument", ["displayName": "Visa"]),
            ("purchaseAmount", 100), ("purchaseAmount", "1.00"), ("purchaseCurrency", "999"),
            ("merchantName", ""), ("acsTransId", "x"), ("purchaseDate", "20230230000000"), ("other", true),
            ("purchaseAmount", nil), ("threeDSRequestorAppURL", "javascript:alert(1)"),
        ] as [(String, JSONValue)])
    func `a wrong purchase is refused and says which member`(name: String, value: JSONValue) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.post("/sandbox/purchases", JSONObject([.init(name: name, value: value)]))
        #expect(reply.status == 400)
        #expect(reply.detail?.contains(name) == true || value == .null, "\(reply)")
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }

    @Test func `a purchase needs an authenticator`() async throws {
        let issuer = try TestIssuer()
        #expect(await issuer.post("/sandbox/purchases").outcome == "409")
        let authenticator = try await issuer.enrolled()
        #expect(await issuer.post("/sandbox/purchases", ["authenticatorId": "nobody"]).outcome == "404")
        _ = await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke")
        #expect(await issuer.post("/sandbox/purchases").outcome == "409")
        let own = await issuer.post("/sandbox/purchases", ["authenticatorId": .string(authenticator.id)])
        #expect(own.detail == "authenticatorId: the authenticator is revoked")
    }

    @Test func `a standing acsTransId takes no second purchase by mistake`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let order: JSONObject = ["acsTransId": .string(Self.acsTransId), "purchaseDate": "20231017055638"]
        let first = try await issuer.purchase(order)
        #expect(await issuer.post("/sandbox/purchases", order).outcome == "409")
        var upperCase = order
        upperCase["acsTransId"] = .string(Self.acsTransId.uppercased())
        #expect(await issuer.post("/sandbox/purchases", upperCase).outcome == "409")
        var other = order
        other["purchaseAmount"] = "999"
        #expect(await issuer.post("/sandbox/purchases", other).outcome == "409")
        #expect(try await issuer.timeline(first).requests.count == 1)
    }

    @Test func `a purchase is listed again for its own authenticator alone`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let second = try await issuer.enrolled()
        let order: JSONObject = [
            "acsTransId": .string(Self.acsTransId), "purchaseDate": "20231017055638", "repeat": 1,
        ]
        var firsts = order
        firsts["authenticatorId"] = .string(first.id)
        _ = try await issuer.purchase(firsts)
        var seconds = order
        seconds["authenticatorId"] = .string(second.id)
        #expect(await issuer.post("/sandbox/purchases", seconds).outcome == "409")
        #expect(try await issuer.listed(first).requests.count == 1)
        #expect(try await issuer.listed(second).requests.isEmpty)
    }

    @Test func `the same request is listed again, or under a new jti`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let order: JSONObject = ["acsTransId": .string(Self.acsTransId), "purchaseDate": "20231017055638"]
        let first = try await issuer.purchase(order)
        var again = order
        again["repeat"] = 2
        _ = try await issuer.purchase(again)
        let jws = try first.request.jws
        #expect(try await issuer.listed(authenticator).requests == [jws, jws, jws])
        var newJTI = order
        newJTI["newJti"] = true
        let timeline = try await issuer.purchase(newJTI)
        #expect(timeline.requests.count == 2)
        #expect(Set(timeline.requests.map(\.jti)).count == 2)
        #expect(try await issuer.listed(authenticator).requests == [jws, jws, jws, timeline.requests[1].jws])
    }

    @Test func `a forced conflict is told with the first purchase`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase(["acsTransId": .string(Self.acsTransId)])
        let second = try await issuer.purchase([
            "acsTransId": .string(Self.acsTransId), "purchaseAmount": "999", "force": true,
        ])
        #expect(try second.request.jti != first.request.jti)
        let timeline = try await issuer.timeline(first)
        #expect(try timeline.json.object("transaction").string("purchaseAmount") == "100")
        #expect(try timeline.json.array("others").count == 1)
        #expect(try await issuer.listed(authenticator).requests.count == 2)
    }

    @Test func `after its expiry a purchase is started anew by force, and stays expired`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let order: JSONObject = [
            "acsTransId": .string(Self.acsTransId), "purchaseDate": "20231017055638", "expiresIn": 60,
        ]
        let first = try await issuer.purchase(order)
        issuer.pass(seconds: 60)
        var listedAgain = order
        listedAgain["newJti"] = true
        #expect(try await issuer.purchase(listedAgain).status == "expired")
        var anew = order
        anew["force"] = true
        let second = try await issuer.purchase(anew)
        let body = try authenticator.approval(of: second.request)
        #expect(await issuer.decide(try second.request.jti, body, by: authenticator).outcome == "200")
        let timeline = try await issuer.timeline(first)
        #expect(timeline.status == "expired")
        guard case .object(let other)? = try timeline.json.array("others", count: 1...1).first else { return }
        #expect(try other.string("status") == "authenticated")
    }

    @Test(arguments: ["x", "00000000-0000-0000-0000-000000000000"])
    func `an unknown purchase is not found`(acsTransId: String) async throws {
        let issuer = try TestIssuer()
        #expect(await issuer.call("GET", "/sandbox/purchases/\(acsTransId)").outcome == "404")
        #expect(await issuer.post("/sandbox/purchases/\(acsTransId)/cancel").outcome == "404")
    }

    @Test(
        arguments: [
            ("attestation", "all"), ("userVerification", 1), ("expiresIn", -1), ("surprise", true),
        ] as [(String, JSONValue)])
    func `a wrong option of a code is refused and named`(name: String, value: JSONValue) async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.post("/sandbox/enrollment-codes", JSONObject([.init(name: name, value: value)]))
        #expect(reply.status == 400)
        #expect(reply.detail?.contains(name) == true, "\(reply)")
    }

    @Test func `a code comes with the link that carries it`() async throws {
        let issuer = try TestIssuer()
        let answer = try await issuer.post("/sandbox/enrollment-codes").object
        let code = try answer.string("code", bytes: 9...9)
        #expect(try answer.string("link") == "oob-enroll:?issuer=http%3A%2F%2Flocalhost%3A8080&code=\(code)")
    }

    @Test func `the register shows authenticators and marks test ones`() async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let software = try SoftwareAuthenticator(site: issuer.site)
        let body = try software.enrollment(ceremony, authnType: .test, aaguid: AAGUID.test)
        let answer = await issuer.call("POST", "/v1/enrollments", body: body)
        let id = try answer.decoded(EnrollmentAnswer.init(bytes:)).authenticatorId.text
        let detail = try await issuer.call("GET", "/sandbox/authenticators/\(id)").object
        #expect(try detail.bool("isTest"))
        #expect(try detail.string("state") == "active")
        #expect(try detail.string("publicKey") == software.key.publicKey.pem)
        #expect(try detail.object("registration").string("type") == "public-key")
        #expect(await issuer.post("/sandbox/authenticators/\(id)/revoke").status == 200)
        #expect(try await issuer.call("GET", "/sandbox/authenticators/\(id)").object.string("state") == "revoked")
        #expect(await issuer.call("GET", "/sandbox/authenticators/nobody").outcome == "404")
    }

    @Test func `a path that is none is not found, and a wrong method is told the right ones`() async throws {
        let issuer = try TestIssuer()
        for path in ["/", "/v1", "/v1/authenticator/", "/v1/authn-requests/x/decision/y", "//", "/v1/batch-fetch/"] {
            let reply = await issuer.call("GET", path)
            #expect(reply.outcome == "404")
        }
        let reply = await issuer.call("PUT", "/v1/authenticator")
        #expect(reply.status == 405)
        #expect(reply.allow == "GET, DELETE")
    }
}
