import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Testing
import TextAndTime

/// How a subscription comes to the sandbox, and how it goes.
@Suite struct PushSubscriptionTests {
    private static func subscription(
        _ endpoint: String = "https://localhost:8443/push/x", p256dh: JSONValue? = nil, auth: String? = nil
    ) throws -> JSONObject {
        let recipient = try PushReceiverKey.generate().recipient
        return [
            "endpoint": .string(endpoint), "expirationTime": .null,
            "keys": [
                "p256dh": p256dh ?? .string(Base64URL.encode(recipient.p256dh)),
                "auth": .string(auth ?? Base64URL.encode([UInt8](repeating: 7, count: 16))),
            ],
        ]
    }

    private func enrollment(_ issuer: TestIssuer, subscription: JSONValue) async throws -> [UInt8] {
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(try await issuer.options())
        var object = try JSONReader.object(body, limits: JSONLimits(maxBytes: 65_536))
        object["pushSubscription"] = subscription
        return object.serialized()
    }

    private func end(_ issuer: TestIssuer, _ authenticator: SoftwareAuthenticator) async -> Reply {
        await issuer.call("DELETE", "/v1/authenticator/push-subscription", token: authenticator.token)
    }

    @Test func `an enrollment brings one, and a body without one brings none`() async throws {
        let issuer = try TestIssuer()
        let body = try await enrollment(issuer, subscription: .object(Self.subscription()))
        let answer = try await issuer.call("POST", "/v1/enrollments", body: body)
            .decoded(EnrollmentAnswer.init(bytes:))
        let authenticator = try SoftwareAuthenticator(site: issuer.site).enrolled(as: answer)
        #expect(try await issuer.endpoint(of: authenticator) == "https://localhost:8443/push/x")
        #expect(try await issuer.endpoint(of: issuer.enrolled()) == nil)
    }

    @Test func `it is replaced, and ended more than once`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        for endpoint in ["https://localhost/a", "http://127.0.0.1:9/b"] {
            #expect(await issuer.subscribe(authenticator, try Self.subscription(endpoint)).outcome == "204")
            #expect(try await issuer.endpoint(of: authenticator) == endpoint)
        }
        for _ in 0..<2 {
            #expect(await end(issuer, authenticator).outcome == "204")
            #expect(try await issuer.endpoint(of: authenticator) == nil)
        }
    }

    @Test func `both take the authenticator's token`() async throws {
        let issuer = try TestIssuer()
        var authenticator = try await issuer.enrolled()
        #expect(await issuer.subscribe(authenticator, try Self.subscription()).status == 204)
        let id = authenticator
        authenticator.token = "nobody's"
        #expect(
            await issuer.subscribe(authenticator, try Self.subscription("https://localhost/x")).outcome
                == "401 invalid_token")
        #expect(await end(issuer, authenticator).outcome == "401 invalid_token")
        #expect(try await issuer.endpoint(of: id) == "https://localhost:8443/push/x")
    }

    @Test(arguments: [
        "http://push.example/x", "https://push.example/x", "https://localhost.example/x", "https://10.0.0.1/x",
        "https://localhost", "https://localhost/x#y", "ftp://localhost/x", "", "https://user@localhost/x",
    ])
    func `an address that is none, or not on loopback, is refused`(endpoint: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.subscribe(authenticator, try Self.subscription(endpoint))
        #expect(reply.outcome == "400 invalid_request")
        #expect(reply.detail?.contains("endpoint") == true)
        #expect(try await issuer.endpoint(of: authenticator) == nil)
        let body = try await enrollment(issuer, subscription: .object(Self.subscription(endpoint)))
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "400 invalid_request")
    }

    @Test func `beyond loopback it is taken if the operator says so`() async throws {
        let issuer = try TestIssuer(pushPolicy: .anywhere)
        let authenticator = try await issuer.enrolled()
        #expect(await issuer.subscribe(authenticator, try Self.subscription("https://push.example/x")).status == 204)
        #expect(await issuer.subscribe(authenticator, try Self.subscription("http://push.example/x")).status == 400)
    }

    @Test func `keys that are none are refused, and the enrollment can be sent again without`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let offCurve = Base64URL.encode([0x04] + [UInt8](repeating: 1, count: 64))
        let wrong: [(JSONObject, String)] = [
            (try Self.subscription(p256dh: .string(offCurve)), "/keys/p256dh"),
            (try Self.subscription(p256dh: 1), "/keys/p256dh"),
            (try Self.subscription(auth: Base64URL.encode([UInt8](repeating: 7, count: 15))), "/keys/auth"),
            (["endpoint": "https://localhost/x"], "/keys"),
        ]
        for (subscription, path) in wrong {
            let reply = await issuer.subscribe(authenticator, subscription)
            #expect(reply.outcome == "400 invalid_request")
            #expect(reply.detail?.contains(path) == true, "\(reply)")
            let body = try await enrollment(issuer, subscription: .object(subscription))
            let refused = await issuer.call("POST", "/v1/enrollments", body: body)
            #expect(refused.outcome == "400 invalid_request")
            #expect(refused.detail?.contains("/pushSubscription" + path) == true, "\(refused)")
        }
        let body = try await enrollment(issuer, subscription: "text")
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "400 invalid_request")
        var object = try JSONReader.object(body, limits: JSONLimits(maxBytes: 65_536))
        object["pushSubscription"] = nil
        #expect(await issuer.call("POST", "/v1/enrollments", body: object.serialized()).status == 201)
    }

    @Test func `a body of more than 8 KiB is refused unread`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        var subscription = try Self.subscription()
        let rest = 8_192 - subscription.serialized().count - #","more":"""#.utf8.count
        subscription["more"] = .string(String(repeating: "x", count: rest))
        #expect(subscription.serialized().count == 8_192)
        #expect(await issuer.subscribe(authenticator, subscription).status == 204)
        subscription["more"] = .string(String(repeating: "x", count: rest + 1))
        #expect(await issuer.subscribe(authenticator, subscription).outcome == "413 invalid_request")
    }

    @Test func `it goes with the enrollment`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let second = try await issuer.enrolled()
        for authenticator in [first, second] {
            #expect(await issuer.subscribe(authenticator, try Self.subscription()).status == 204)
        }
        _ = await issuer.call("DELETE", "/v1/authenticator", token: first.token)
        _ = await issuer.post("/sandbox/authenticators/\(second.id)/revoke")
        for authenticator in [first, second] { #expect(try await issuer.endpoint(of: authenticator) == nil) }
    }
}
