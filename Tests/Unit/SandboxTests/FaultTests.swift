import IssuerProtocol
import StrictJSON
import Testing

@testable import Sandbox

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

    @Test func `a name in the list of planned faults sends nothing to the terminal`() throws {
        let report = SandboxReport.faults(["next": [["\u{1B}[2J": "1"]]])
        #expect(report.text.contains("[2J=1") && !report.text.contains("\u{1B}"))
    }

    @Test func `what is planned and has not happened yet is listed as it can be planned again`() async throws {
        let issuer = try TestIssuer()
        #expect(try await issuer.call("GET", "/sandbox/faults").object == ["planned": 0, "next": []])
        let plan: JSONValue = [
            ["path": "jwks", "status": 503, "times": 3, "retryAfter": 7],
            ["path": "decision", "kind": "drop", "moment": "after"],
            ["path": "fetch", "kind": "slow", "milliseconds": 5],
        ]
        #expect(await issuer.post("/sandbox/faults", ["next": plan]).status == 200)
        #expect(await issuer.call("GET", "/jwks.json").outcome == "503")
        let listed = try await issuer.call("GET", "/sandbox/faults").object
        let expected: JSONObject = [
            "planned": 4,
            "next": [
                ["path": "jwks", "status": 503, "retryAfter": 7, "moment": "before", "times": 2],
                ["path": "decision", "kind": "drop", "moment": "after", "times": 1],
                ["path": "fetch", "kind": "slow", "milliseconds": 5, "moment": "before", "times": 1],
            ],
        ]
        #expect(listed == expected)
        let next = try #require(listed["next"])
        let other = try TestIssuer()
        #expect(try await other.post("/sandbox/faults", ["next": next]).object == ["planned": 4])
        #expect(try await other.call("GET", "/sandbox/faults").object == expected)
    }

    @Test func `odds are set, told with their seed, replaced and cleared`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let faults = "/sandbox/faults"
        #expect(await issuer.post(faults, ["odds": "500=1,path=fetch,seed=7"]).outcome == "200")
        #expect(try await issuer.call("GET", faults).object["odds"] == "500=1,path=fetch,seed=7")
        #expect(await issuer.call("GET", "/v1/authn-requests", token: authenticator.token).status == 500)
        #expect(await issuer.call("DELETE", faults).outcome == "200")
        #expect(await issuer.call("GET", "/v1/authn-requests", token: authenticator.token).status == 500)
        let both: JSONObject = ["odds": "503=1,path=fetch", "next": [["path": "jwks", "kind": "drop"]]]
        #expect(try await issuer.post(faults, both).object == ["planned": 1])
        #expect(try await issuer.call("GET", faults).object.string("odds").hasPrefix("503=1,path=fetch,seed="))
        #expect(await issuer.call("GET", "/v1/authn-requests", token: authenticator.token).status == 503)
        let cleared = await issuer.call("DELETE", faults, query: ["odds": "true"])
        #expect(try cleared.object == ["cleared": 1, "planned": 0])
        #expect(try await issuer.call("GET", faults).object == ["planned": 0, "next": []])
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }

    @Test(
        arguments: [
            ([:], "next: missing"), (["odds": "500=2"], "odds: 500: must be odds of 0 to 1"),
            (["odds": "drop-befor=1"], "odds: drop-befor: no such name; did you mean drop-before?"),
            (["next": [["path": "fetsh", "status": 500]]], "path: must be one of discovery, "),
            (["odd": "500=1"], "odd: no such member; did you mean odds?"),
            (
                ["odds": "500=1", "next": [["path": "jwks", "kind": "drop", "moment": "now"]]], "moment: must be one of"
            ),
        ] as [(JSONObject, String)])
    func `what is no fault is refused, named, and sets nothing`(body: JSONObject, detail: String) async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.post("/sandbox/faults", body)
        #expect(reply.status == 400)
        #expect(reply.detail?.hasPrefix(detail) == true, "\(reply)")
        #expect(try await issuer.call("GET", "/sandbox/faults").object == ["planned": 0, "next": []])
    }

    @Test func `what is cleared does not happen`() async throws {
        let issuer = try TestIssuer()
        _ = await plan(issuer, ["path": "jwks", "status": 503, "times": 2])
        #expect(try await issuer.call("DELETE", "/sandbox/faults").object == ["cleared": 2, "planned": 0])
        #expect(await issuer.call("GET", "/jwks.json").outcome == "200")
        #expect(try await issuer.call("GET", "/sandbox/faults").object == ["planned": 0, "next": []])
        #expect(try await issuer.call("DELETE", "/sandbox/faults").object == ["cleared": 0, "planned": 0])
    }

    @Test func `a decision that fails before has no effect, one that fails after has it`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        for (moment, status) in [("before", "pending"), ("after", "notAuthenticated")] {
            let purchase = try await issuer.purchase()
            _ = await plan(issuer, ["path": "decision", "status": 500, "moment": .string(moment)])
            let jti = try purchase.request.jti
            let body = DecisionBody.deny(.userDenied)
            #expect(await issuer.decide(jti, body, by: authenticator).outcome == "500")
            #expect(try await issuer.timeline(purchase).status == status)
            #expect(await issuer.decide(jti, body, by: authenticator).outcome == "200")
        }
    }

    @Test func `an enrollment whose answer is lost is answered the same again`() async throws {
        let issuer = try TestIssuer()
        let body = try SoftwareAuthenticator(site: issuer.site).enrollment(try await issuer.options())
        _ = await plan(issuer, ["path": "enroll", "status": 502, "moment": "after"])
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "502")
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "201")
    }

    /// A denial while one fault is planned: what came back, and whether it had its effect.
    private func denied(under fault: JSONObject) async throws -> (reply: Reply, isTaken: Bool, naps: [Duration]) {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase()
        var fault = fault
        fault["path"] = "decision"
        try #require(await plan(issuer, fault).status == 200)
        let reply = await issuer.decide(try purchase.request.jti, DecisionBody.deny(.userDenied), by: authenticator)
        return (reply, try await issuer.timeline(purchase).status == "notAuthenticated", issuer.naps)
    }

    @Test(
        arguments: [
            (["kind": "drop"], Transmission.nothing, false), (["kind": "drop", "moment": "after"], .nothing, true),
            (["kind": "truncated"], .half, true), (["kind": "endless"], .endless, true),
            (["kind": "truncated", "moment": "after"], .half, true),
        ] as [(JSONObject, Transmission, Bool)])
    func `an answer that is to be lost is lost before the call has its effect or after it`(
        fault: JSONObject, transmission: Transmission, isTaken: Bool
    ) async throws {
        let denied = try await denied(under: fault)
        #expect(denied.reply.transmission == transmission)
        #expect(denied.isTaken == isTaken)
    }

    @Test(arguments: [("before", false), ("after", true)])
    func `planned garbage is no JSON`(moment: String, isTaken: Bool) async throws {
        let denied = try await denied(under: ["kind": "garbage", "moment": .string(moment)])
        #expect(denied.reply.status == 200 && denied.isTaken == isTaken)
        #expect(throws: JSONError.self) { try denied.reply.object }
    }

    @Test func `a call that is to be slow is held up for that long`() async throws {
        let denied = try await denied(under: ["kind": "slow", "milliseconds": 250])
        #expect(denied.isTaken && denied.naps == [.milliseconds(250)])
    }

    @Test func `a list that is to be duplicated is, once`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let sent = try await issuer.purchase().request.jws
        _ = await plan(issuer, ["path": "fetch", "kind": "duplicate"])
        #expect(try await issuer.listed(authenticator).requests == [sent, sent])
        #expect(try await issuer.listed(authenticator).requests == [sent])
    }

    @Test func `a list that is to be reordered holds the same in another order, once`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let sent = try await issuer.purchase(["repeat": 20, "newJti": true]).requests.map(\.jws)
        _ = await plan(issuer, ["path": "fetch", "kind": "reorder"])
        let came = try await issuer.listed(authenticator).requests
        #expect(came != sent && came.sorted() == sent.sorted())
        #expect(try await issuer.listed(authenticator).requests == sent)
    }

    @Test func `a full list can be planned for one fetch`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        _ = try await issuer.purchase()
        _ = await plan(issuer, ["path": "fetch", "kind": "full-list"])
        #expect(try await issuer.listed(authenticator).requests.count == 100)
        #expect(try await issuer.listed(authenticator).requests.count == 1)
    }

    @Test(
        arguments: [
            ["path": "nowhere", "status": 500], ["path": "fetch"], ["path": "fetch", "status": 200],
            ["path": "fetch", "status": 500, "kind": "drop"], ["path": "fetch", "kind": "teapot"],
            ["path": "decision", "kind": "duplicate"], ["path": "jwks", "kind": "full-list"],
            ["path": "fetch", "kind": "truncated", "moment": "before"],
            ["path": "fetch", "kind": "full-list", "moment": "after"], ["path": "fetch", "kind": "slow"],
            ["path": "fetch", "kind": "slow", "milliseconds": 60_001], ["path": "fetch", "kind": "drop", "tiems": 2],
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
