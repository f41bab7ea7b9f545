import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Testing
import WebAuthn

@Suite struct EnrollmentTests {
    @Test func `the discovery is an issuer's that pushes and has a batch fetch`() async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.call("GET", Discovery.path)
        let discovery = try Discovery(json: reply.bytes, expected: issuer.site.issuer)
        #expect(discovery.vapidPublicKey?.count == 65)
        #expect(discovery.batchFetchEndpoint == "http://localhost:8080/v1/batch-fetch")
        #expect(discovery.authnRequestsEndpoint == "http://localhost:8080/v1/authn-requests")
    }

    @Test func `the options are for localhost and exclude what this cardholder has`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let other = try await issuer.options()
        #expect(other.options.rpId == "localhost")
        #expect(other.options.excludeCredentials.isEmpty)
        let again = try await issuer.options(["sameCardholderAs": .string(first.id)])
        #expect(again.options.excludeCredentials == [first.credentialId])
    }

    @Test(arguments: ["AAAA-AAAA", "", "7qk4"])
    func `a code that was never given out is refused`(code: String) async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.optionsAnswer(code: code)
        #expect(reply.outcome == (code.isEmpty ? "400 invalid_request" : "403 invalid_enrollment_code"))
    }

    @Test func `a code is refused from its expiry on`() async throws {
        let issuer = try TestIssuer()
        let code = try await issuer.code(["expiresIn": 60])
        issuer.pass(seconds: 59)
        #expect(await issuer.optionsAnswer(code: code).status == 200)
        issuer.pass(seconds: 1)
        #expect(await issuer.optionsAnswer(code: code).outcome == "403 invalid_enrollment_code")
    }

    @Test func `a code is used by one registration`() async throws {
        let issuer = try TestIssuer()
        let code = try await issuer.code()
        let one = try await issuer.options(code: code)
        let two = try await issuer.options(code: code)
        let first = try SoftwareAuthenticator(site: issuer.site).enrollment(one)
        let second = try SoftwareAuthenticator(site: issuer.site).enrollment(two)
        #expect(await issuer.call("POST", "/v1/enrollments", body: first).status == 201)
        #expect(await issuer.call("POST", "/v1/enrollments", body: second).outcome == "410 ceremony_expired")
        #expect(await issuer.optionsAnswer(code: code).outcome == "403 invalid_enrollment_code")
    }

    @Test func `a code gives options five times and no more`() async throws {
        let issuer = try TestIssuer()
        let code = try await issuer.code()
        for _ in 0..<5 { #expect(await issuer.optionsAnswer(code: code).status == 200) }
        #expect(await issuer.optionsAnswer(code: code).outcome == "403 invalid_enrollment_code")
    }

    @Test func `the same bytes get the same answer and the same token for an hour`() async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(ceremony)
        let first = await issuer.call("POST", "/v1/enrollments", body: body)
        issuer.pass(seconds: 3_599)
        let second = await issuer.call("POST", "/v1/enrollments", body: body)
        #expect(first.status == 201)
        #expect(second.status == 201)
        #expect(first.bytes == second.bytes)
        issuer.pass(seconds: 1)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "410 ceremony_expired")
    }

    @Test func `other bytes find the ceremony over`() async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let authenticator = try SoftwareAuthenticator(site: issuer.site)
        let body = try authenticator.enrollment(ceremony)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).status == 201)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body + [0x20]).outcome == "410 ceremony_expired")
    }

    @Test func `a ceremony that is unknown or over is told so`() async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let unknown = EnrollmentOptionsAnswer(ceremonyId: "nobody's", options: ceremony.options)
        let authenticator = try SoftwareAuthenticator(site: issuer.site)
        let body = try authenticator.enrollment(unknown)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "410 ceremony_expired")
        issuer.pass(seconds: 600)
        let late = try authenticator.enrollment(ceremony)
        #expect(await issuer.call("POST", "/v1/enrollments", body: late).outcome == "410 ceremony_expired")
    }

    @Test(arguments: [
        SoftwareAuthenticator.Wrong.challenge, .origin, .rpId, .userPresence, .clientDataType,
    ])
    func `a registration with one thing wrong is refused, and again`(wrong: SoftwareAuthenticator.Wrong) async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(ceremony, wrong: wrong)
        for _ in 0..<2 {
            #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "422 invalid_registration")
        }
        let authenticators = await issuer.call("GET", "/sandbox/authenticators")
        #expect(authenticators.bytes == Array("[]".utf8))
    }

    @Test func `a self attestation is verified`() async throws {
        let issuer = try TestIssuer()
        for (wrong, outcome) in [(SoftwareAuthenticator.Wrong.nothing, "201"), (.key, "422 invalid_registration")] {
            let ceremony = try await issuer.options(["attestation": "direct"])
            let authenticator = try SoftwareAuthenticator(site: issuer.site)
            let body = try authenticator.enrollment(ceremony, packed: true, wrong: wrong)
            #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == outcome)
        }
    }

    @Test(arguments: [("none", true), ("direct", false), ("indirect", false), ("enterprise", false)])
    func `an attestation of the other form is refused`(asked: String, packed: Bool) async throws {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options(["attestation": .string(asked)])
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(ceremony, packed: packed)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "422 invalid_registration")
    }

    @Test(arguments: [
        (AuthnType.presence, AAGUID.model, "201"), (.pin, AAGUID.model, "201"), (.test, AAGUID.test, "201"),
        (.test, AAGUID.model, "422 invalid_registration"), (.presence, AAGUID.test, "422 invalid_registration"),
    ])
    func `a test authenticator has the AAGUID of one`(authnType: AuthnType, aaguid: [UInt8], outcome: String)
        async throws
    {
        let issuer = try TestIssuer()
        let ceremony = try await issuer.options()
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(
            ceremony, authnType: authnType, aaguid: aaguid)
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == outcome)
    }

    @Test func `user verification is demanded if the code says so`() async throws {
        let issuer = try TestIssuer()
        let cases: [(AuthenticatorFlags, String)] = [
            (.userPresent, "422 invalid_registration"), ([.userPresent, .userVerified], "201"),
        ]
        for (flags, outcome) in cases {
            let ceremony = try await issuer.options(["userVerification": "required"])
            let body = try SoftwareAuthenticator(site: issuer.site).enrollment(ceremony, flags: flags)
            #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == outcome)
        }
    }

    @Test func `a credential id is registered once`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let body = try authenticator.enrollment(try await issuer.options())
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "422 invalid_registration")
    }

    @Test(arguments: ["", "{", "[]", #"{"ceremonyId":"x"}"#, #"{"ceremonyId":"x","ceremonyId":"x"}"#])
    func `a body that cannot be read is an invalid request`(body: String) async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.call("POST", "/v1/enrollments", body: Array(body.utf8))
        #expect(reply.outcome == "400 invalid_request")
    }

    @Test func `an authenticator asks for its signCount, and ends`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.call("GET", "/v1/authenticator", token: authenticator.token)
        let status = try reply.decoded(AuthenticatorStatus.init(bytes:))
        #expect(status.authenticatorId.text == authenticator.id)
        #expect(status.signCount == 0)
        #expect(await issuer.call("DELETE", "/v1/authenticator", token: authenticator.token).status == 204)
        for method in ["GET", "DELETE"] {
            let reply = await issuer.call(method, "/v1/authenticator", token: authenticator.token)
            #expect(reply.outcome == "401 invalid_token")
        }
    }

    @Test(arguments: [nil, "wrong", "", "with space"])
    func `a token that is nobody's is invalid`(token: String?) async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        #expect(await issuer.call("GET", "/v1/authenticator", token: token).outcome == "401 invalid_token")
        #expect(await issuer.call("GET", "/v1/authn-requests", token: token).outcome == "401 invalid_token")
    }
}
