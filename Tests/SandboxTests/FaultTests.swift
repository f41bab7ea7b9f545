import IssuerProtocol
import StrictJSON
import Testing

@Suite struct FaultTests {
    private func plan(_ issuer: TestIssuer, _ fault: JSONObject) async -> Reply {
        await issuer.post("/sandbox/faults", ["next": [.object(fault)]])
    }

    @Test func `a call fails as often as was planned, without a code of the protocol's`() async throws {
        let issuer = try TestIssuer()
        #expect(await plan(issuer, ["path": "jwks", "status": 503, "times": 2, "retryAfter": 7]).status == 200)
        for _ in 0..<2 {
            let reply = await issuer.call("GET", "/jwks.json")
            #expect(reply.outcome == "503")
            #expect(reply.retryAfter == 7)
        }
        #expect(await issuer.call("GET", "/jwks.json").outcome == "200")
    }

    @Test func `a decision that fails before has no effect, one that fails after has it`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        for (moment, status) in [("before", "pending"), ("after", "notAuthenticated")] {
            let purchase = try await issuer.purchase()
            _ = await plan(issuer, ["path": "decision", "status": 500, "moment": .string(moment)])
            let jti = try purchase.request.jti
            let body = DecisionBody.deny(.userDenied)
            #expect(await issuer.decide(jti, body, authenticator).outcome == "500")
            #expect(try await issuer.story(purchase).status == status)
            #expect(await issuer.decide(jti, body, authenticator).outcome == "200")
        }
    }

    @Test func `an enrollment whose answer is lost is answered the same again`() async throws {
        let issuer = try TestIssuer()
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(try await issuer.options())
        _ = await plan(issuer, ["path": "enroll", "status": 502, "moment": "after"])
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "502")
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "201")
    }

    @Test(
        arguments: [
            ["path": "nowhere", "status": 500], ["path": "fetch"], ["path": "fetch", "status": 200],
            ["path": "fetch", "status": 500, "times": 0], ["path": "fetch", "status": 500, "times": 10_001],
            ["path": "fetch", "status": 500, "moment": "later"],
        ] as [JSONObject])
    func `a wrong plan is refused and plans nothing`(fault: JSONObject) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        #expect(await plan(issuer, fault).status == 400)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }
}
