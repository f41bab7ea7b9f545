import IssuerProtocol
import Keys
import StrictJSON
import Testing
import WebAuthn

@Suite struct AssertionTests {
    @Test func `an assertion that holds completes the purchase with Y`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let body = try authenticator.approval(of: purchase.request, signCount: 41)
        let reply = await issuer.decide(try purchase.request.jti, body, by: authenticator)
        #expect(try reply.decoded(DecisionAnswer.init(bytes:)).transStatus == .authenticated)
        #expect(try await issuer.timeline(purchase).status == "authenticated")
        let status = await issuer.call("GET", "/v1/authenticator", token: authenticator.token)
        #expect(try status.decoded(AuthenticatorStatus.init(bytes:)).signCount == 41)
    }

    @Test(arguments: [
        (SoftwareAuthenticator.Wrong.challenge, "challenge"), (.origin, "origin"), (.rpId, "rpId"),
        (.userPresence, "userPresence"), (.key, "signature"), (.credentialId, "credentialId"),
        (.userHandle, "userHandle"), (.clientDataType, "type"), (.bytes, "signature"), (.signature, "signature"),
        (.crossOrigin, "crossOrigin"), (.topOrigin, "topOrigin"), (.clientDataNoJSON, "clientData"),
        (.authenticatorDataTooShort, "authenticatorData"),
    ])
    func `an assertion with one thing wrong is refused and completes nothing`(
        wrong: SoftwareAuthenticator.Wrong, check: String
    ) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let body = try authenticator.approval(of: purchase.request, wrong: wrong)
        let reply = await issuer.decide(try purchase.request.jti, body, by: authenticator)
        #expect(reply.outcome == "422 invalid_assertion")
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "pending")
        #expect(try timeline.request.state == "open")
        #expect(try failedChecks(timeline) == [check])
        #expect(try refusals(timeline) == ["422 invalid_assertion"])
        // The right one is still taken.
        let right = try authenticator.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, right, by: authenticator).outcome == "200")
    }

    private func refusals(_ timeline: PurchaseView) throws -> [String] {
        try timeline.request.json.array("refusedDecisions").map { element in
            guard case .object(let refused) = element else { return "" }
            return try "\(refused.integer("status")) \(refused.string("code"))"
        }
    }

    private func failedChecks(_ timeline: PurchaseView) throws -> [String] {
        try timeline.request.json.array("refusedAssertions").flatMap { element -> [String] in
            guard case .object(let refused) = element else { return [] }
            return try refused.array("verdict").compactMap { check in
                guard case .object(let check) = check, check["result"] == "failed" else { return nil }
                return try check.string("check")
            }
        }
    }

    @Test func `user verification is demanded if the purchase says so`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["userVerification": "required"])
        let unverified = try authenticator.approval(of: purchase.request)
        let jti = try purchase.request.jti
        #expect(await issuer.decide(jti, unverified, by: authenticator).outcome == "422 invalid_assertion")
        #expect(try failedChecks(try await issuer.timeline(purchase)) == ["userVerification"])
        let verified = try authenticator.approval(of: purchase.request, flags: [.userPresent, .userVerified])
        #expect(await issuer.decide(jti, verified, by: authenticator).outcome == "200")
    }

    @Test(arguments: [
        (UInt32(0), "422 invalid_assertion"), (6, "422 invalid_assertion"), (7, "422 invalid_assertion"), (8, "200"),
    ])
    func `the signCount must be above the last one`(signCount: UInt32, outcome: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase()
        let before = try authenticator.approval(of: first.request, signCount: 7)
        #expect(await issuer.decide(try first.request.jti, before, by: authenticator).outcome == "200")
        let second = try await issuer.purchase()
        let body = try authenticator.approval(of: second.request, signCount: signCount)
        #expect(await issuer.decide(try second.request.jti, body, by: authenticator).outcome == outcome)
        let timeline = try await issuer.timeline(second)
        #expect(timeline.status == (outcome == "200" ? "authenticated" : "pending"))
        if outcome != "200" { #expect(try failedChecks(timeline) == ["signCount"]) }
    }

    @Test func `a signCount of 0 after none is refused`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let body = try authenticator.approval(of: purchase.request, signCount: 0)
        #expect(
            await issuer.decide(try purchase.request.jti, body, by: authenticator).outcome == "422 invalid_assertion")
    }

    @Test func `an assertion for one purchase does not approve another`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase()
        let second = try await issuer.purchase()
        let body = try authenticator.approval(of: first.request)
        #expect(await issuer.decide(try second.request.jti, body, by: authenticator).outcome == "422 invalid_assertion")
        #expect(try failedChecks(try await issuer.timeline(second)) == ["challenge"])
        #expect(await issuer.decide(try first.request.jti, body, by: authenticator).outcome == "200")
        // An old one, whose signCount has passed as well: the challenge tells first.
        #expect(await issuer.decide(try second.request.jti, body, by: authenticator).outcome == "422 invalid_assertion")
        #expect(try failedChecks(try await issuer.timeline(second)) == ["challenge", "challenge"])
    }

    @Test func `an assertion for one transaction does not approve it with another amount`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let small = try await issuer.purchase(["purchaseAmount": "100"])
        let large = try await issuer.purchase([
            "acsTransId": .string(small.acsTransId), "purchaseAmount": "100000", "force": true,
        ])
        let body = try authenticator.approval(of: small.request)
        #expect(await issuer.decide(try large.request.jti, body, by: authenticator).outcome == "422 invalid_assertion")
    }

    @Test func `of refused assertions ten are kept`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        for count in UInt32(1)...12 {
            let body = try authenticator.approval(of: purchase.request, signCount: count, wrong: .origin)
            #expect(await issuer.decide(try purchase.request.jti, body, by: authenticator).status == 422)
        }
        #expect(try failedChecks(try await issuer.timeline(purchase)).count == 10)
    }

    @Test func `a story has what it takes to verify the assertion elsewhere`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        let body = try authenticator.approval(of: purchase.request, signCount: 3)
        _ = await issuer.decide(try purchase.request.jti, body, by: authenticator)
        let timeline = try await issuer.timeline(purchase).json
        let expected = try timeline.object("expected")
        #expect(try timeline.string("publicKey") == authenticator.key.publicKey.pem)
        let signCount = try AssertionVerifier.verify(
            AuthenticationResponse(json: timeline.object("credential")), publicKey: authenticator.key.publicKey,
            credentialId: expected.base64url("credentialId", bytes: 1...1_023),
            challenge: expected.base64url("challenge", bytes: 32...32), origin: expected.string("origin"),
            rpId: "localhost", userVerificationRequired: false, signCount: .mustRise(above: 0))
        #expect(signCount == 3)
        let results = try timeline.array("verdict").map { check -> String in
            guard case .object(let check) = check else { return "" }
            return try check.string("result")
        }
        #expect(Set(results) == ["passed", "notRequired"])
    }
}
