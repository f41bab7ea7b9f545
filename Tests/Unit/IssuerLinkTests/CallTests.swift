import IssuerProtocol
import Keys
import StrictJSON
import Testing
import WebAuthn

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct CallTests {
    @Test func `discovery is asked for at its well-known path, as JSON and without a token`() async throws {
        try await Link.run { request in
            let issuer = "http://\(request.header("host") ?? "")"
            let json = (try? IssuerURL(issuer)).map { Link.discovery($0).json.serialized() } ?? []
            return .answer(200, json)
        } _: { link in
            #expect(try await link.gateway.discovery(link.target) == link.discovery)
            let request = try await link.firstRequest()
            #expect(request.method == "GET")
            #expect(request.target == "/.well-known/oob-authenticator")
            #expect(request.header("accept") == "application/json")
            #expect(request.header("accept-encoding") == "identity")
            #expect(request.header("user-agent") == "oob-agent/1.2.3")
            #expect(request.header("authorization") == nil)
            #expect(request.header("content-type") == nil)
        }
    }

    @Test func `keys come from the JWK Set's address, its query kept`() async throws {
        let key = try SigningKey.generate(.es256).publicKey
        let bytes = JWKSet(keys: [(kid: "k1", key: key)]).json.serialized()
        try await Link.run { _ in
            .answer(200, bytes, type: "application/jwk-set+json")
        } _: { link in
            let keys = try await link.gateway.keys(link.target, link.discovery)
            #expect(keys["k1"] == key)
            #expect(try await link.firstRequest().target == "/jwks.json?v=2")
        }
    }

    @Test func `an enrollment code is sent as JSON and brings a ceremony`() async throws {
        let options = PublicKeyCredentialCreationOptions(
            rpId: "localhost", rpName: "Bank", userId: [1], userName: "u", userDisplayName: "U",
            challenge: Array(repeating: 7, count: 32), pubKeyCredParams: [-7])
        let answer = EnrollmentOptionsAnswer(ceremonyId: "c-1", options: options)
        try await Link.run { _ in
            .answer(200, answer.json.serialized())
        } _: { link in
            let code = try #require(EnrollmentCode("7QK4-M2XD"))
            let got = try await link.gateway.enrollmentOptions(link.target, link.discovery, code: code)
            #expect(got == answer)
            let request = try await link.firstRequest()
            #expect(request.method == "POST")
            #expect(request.target == "/v1/options")
            #expect(request.header("content-type") == "application/json")
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"enrollmentCode":"7QK4-M2XD"}"#)
        }
    }

    @Test func `an enrollment's bytes are sent as they are, and 201 brings its token`() async throws {
        let body: [UInt8] = Array("{ \"as\" : \"it is\" }\n".utf8)
        let answer = #"{"authenticatorId":"a-1","accessToken":"\#(Link.token)"}"#
        try await Link.run { _ in
            .answer(201, text: answer)
        } _: { link in
            let got = try await link.gateway.enroll(link.target, link.discovery, body: body)
            #expect(got.authenticatorId == TokenID("a-1"))
            #expect(got.accessToken.reveal() == Link.token)
            let request = try await link.firstRequest()
            #expect(request.method == "POST")
            #expect(request.target == "/v1/enrollments")
            #expect(request.body == body)
        }
    }

    @Test(arguments: [(50, "50"), (0, "0"), (-1, "0"), (61, "60")])
    func `a first fetch says how long it waits, within bounds, and carries the token`(
        _ wait: Int, _ sent: String
    ) async throws {
        let answer = #"{"requests":["a.b.c","d.e.f"],"cursor":"c1"}"#
        try await Link.run { _ in
            .answer(200, text: answer)
        } _: { link in
            let list = try await link.gateway.fetch(link.access, wait: wait, after: nil)
            #expect(list == RequestList(requests: ["a.b.c", "d.e.f"], cursor: "c1"))
            let request = try await link.firstRequest()
            #expect(request.method == "GET")
            #expect(request.target == "/v1/authn-requests?wait=\(sent)")
            #expect(request.header("authorization") == "Bearer \(Link.token)")
        }
    }

    @Test func `a cursor is escaped down to the unreserved characters`() async throws {
        try await Link.run { _ in
            .emptyList
        } _: { link in
            _ = try await link.gateway.fetch(link.access, wait: 5, after: "aZ09-._~ &=+/%?#\"ø\u{0301}")
            let target = try await link.firstRequest().target
            #expect(
                target == "/v1/authn-requests?wait=5&after=aZ09-._~%20%26%3D%2B%2F%25%3F%23%22%C3%B8%CC%81")
        }
    }

    @Test(arguments: [("Y", TransStatus.authenticated), ("N", .notAuthenticated)])
    func `a decision's bytes go to its jti`(_ letter: String, _ status: TransStatus) async throws {
        try await Link.run { _ in
            .answer(200, text: #"{"transStatus":"\#(letter)"}"#)
        } _: { link in
            let status = try await link.decide()
            #expect(status == status)
            let request = try await link.firstRequest()
            #expect(request.method == "POST")
            #expect(request.target == "/v1/authn-requests/b1c6_-9/decision")
            #expect(request.header("authorization") == "Bearer \(Link.token)")
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("traceparent") == nil)
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"decision":"deny"}"#)
        }
    }

    @Test func `a decision carries the traceparent that came`() async throws {
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        try await Link.run { _ in
            .authenticated
        } _: { link in
            try await link.decide(traceparent: traceparent)
            #expect(try await link.firstRequest().header("traceparent") == traceparent)
        }
    }

    @Test(arguments: [
        "", "00", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: y",
    ])
    func `what is no traceparent is left out`(_ text: String) async throws {
        try await Link.run { _ in
            .authenticated
        } _: { link in
            try await link.decide(traceparent: text)
            let request = try await link.firstRequest()
            #expect(request.header("traceparent") == nil)
            #expect(request.header("x") == nil)
        }
    }

    @Test func `the authenticator's status is asked for with the token`() async throws {
        let answer = AuthenticatorStatus(authenticatorId: try #require(TokenID("a-1")), signCount: 41)
        try await Link.run { _ in
            .answer(200, answer.json.serialized())
        } _: { link in
            let status = try await link.gateway.status(link.access)
            #expect(status == answer)
            let request = try await link.firstRequest()
            #expect(request.method == "GET")
            #expect(request.target == "/v1/authenticator")
            #expect(request.header("authorization") == "Bearer \(Link.token)")
        }
    }

    @Test func `unenrolling deletes the authenticator and takes 204`() async throws {
        try await Link.run { _ in
            .answer(204, type: nil)
        } _: { link in
            try await link.gateway.unenroll(link.access)
            let request = try await link.firstRequest()
            #expect(request.method == "DELETE")
            #expect(request.target == "/v1/authenticator")
            #expect(request.header("authorization") == "Bearer \(Link.token)")
            #expect(request.body.isEmpty)
        }
    }
}
