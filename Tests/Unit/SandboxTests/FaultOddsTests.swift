import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// What `--faults` does to the calls.
@Suite struct FaultOddsTests {
    /// A denial under faults: what came back, and whether it had its effect.
    private struct Denial: Equatable {
        let status: Int
        let transmission: Transmission
        let retryAfter: Int64?
        let isTaken: Bool
    }

    private func denials(_ faults: String, count: Int = 1) async throws -> [Denial] {
        let issuer = try TestIssuer(faults: "\(faults),path=decision,seed=7")
        let authenticator = try await issuer.enrolled()
        var denials: [Denial] = []
        for _ in 0..<count {
            let purchase = try await issuer.purchase()
            let reply = await issuer.decide(
                try purchase.request.jti, DecisionBody.deny(.userDenied), by: authenticator)
            denials.append(
                Denial(
                    status: reply.status, transmission: reply.transmission, retryAfter: reply.retryAfter,
                    isTaken: try await issuer.timeline(purchase).status == "notAuthenticated"))
        }
        return denials
    }

    @Test(arguments: [
        ("drop-before", Transmission.nothing, false), ("drop-after", .nothing, true), ("truncated", .half, true),
        ("endless", .endless, true),
    ])
    func `an answer that is lost on the way is one of a call that had its effect or had none`(
        kind: String, transmission: Transmission, isTaken: Bool
    ) async throws {
        let denial = try #require(try await denials("\(kind)=1").first)
        #expect(denial.transmission == transmission)
        #expect(denial.isTaken == isTaken)
    }

    @Test(arguments: [
        ("500=1", 500, nil), ("503=1", 503, nil), ("503-retry-after=1:7s", 503, 7), ("garbage=1", 200, nil),
    ])
    func `another answer comes both before a call has its effect and after it`(
        kind: String, status: Int, retryAfter: Int64?
    ) async throws {
        let denials = try await denials(kind, count: 20)
        #expect(denials.allSatisfy { $0.status == status && $0.retryAfter == retryAfter && $0.transmission == .whole })
        #expect(Set(denials.map(\.isTaken)) == [true, false])
    }

    @Test func `garbage is no JSON, whatever its type says`() async throws {
        let issuer = try TestIssuer(faults: "garbage=1,seed=1")
        for _ in 0..<20 {
            let reply = await issuer.call("GET", "/jwks.json")
            #expect(reply.status == 200)
            #expect(reply.bytes.first == 0xFF, "what stands nowhere in UTF-8")
            #expect(throws: JSONError.self) { try reply.object }
        }
    }

    /// A discovery without what no two issuers have in common.
    private func withoutKey(_ reply: Reply) throws -> JSONObject {
        var object = try reply.object
        object["vapidPublicKey"] = nil
        return object
    }

    @Test func `a slow call is held up for its time, once, and else is as ever`() async throws {
        let issuer = try TestIssuer(faults: "slow=1:200ms,seed=1")
        let plain = try TestIssuer()
        for call in 1...20 {
            let reply = await issuer.call("GET", Discovery.path)
            #expect(try withoutKey(reply) == withoutKey(await plain.call("GET", Discovery.path)))
            #expect(issuer.naps == Array(repeating: .milliseconds(200), count: call))
        }
        #expect(plain.naps.isEmpty)
    }

    @Test(arguments: ["truncated", "endless"])
    func `an answer without a body cannot be cut or go on, so it is dropped`(kind: String) async throws {
        let issuer = try TestIssuer(faults: "\(kind)=1,path=unenroll")
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.call("DELETE", "/v1/authenticator", token: authenticator.token)
        #expect(reply.transmission == .nothing)
        #expect(await issuer.call("GET", "/v1/authenticator", token: authenticator.token).status == 401)
    }

    /// The requests of a list of `count` purchases, as they are and as they come.
    private func listed(_ faults: String, count: Int) async throws -> (sent: [String], came: [String]) {
        let issuer = try TestIssuer(faults: faults)
        let authenticator = try await issuer.enrolled()
        var sent: [String] = []
        for _ in 0..<count { sent.append(try await issuer.purchase().request.jws) }
        return (sent, try await issuer.listed(authenticator).requests)
    }

    @Test(arguments: [(0, 0), (1, 2), (50, 100), (60, 100), (100, 100)])
    func `a duplicated list names each request twice, as far as an answer may`(count: Int, expected: Int) async throws {
        let (sent, came) = try await listed("duplicate=1", count: count)
        #expect(came == Array((sent + sent).prefix(expected)))
    }

    @Test func `a reordered list holds the same in another order`() async throws {
        let (sent, came) = try await listed("reorder=1,seed=3", count: 20)
        #expect(came != sent)
        #expect(came.sorted() == sent.sorted())
    }

    @Test func `the lists of a batch fetch are duplicated as well, up to what one answer may hold`() async throws {
        let issuer = try TestIssuer(faults: "duplicate=1,reorder=1,seed=3")
        var authenticators: [SoftwareAuthenticator] = []
        var sent: [String: [String]] = [:]
        for count in [40, 30] {
            let authenticator = try await issuer.enrolled()
            authenticators.append(authenticator)
            let purchase = try await issuer.purchase(["repeat": .integer(Int64(count)), "newJti": true])
            sent[authenticator.id] = purchase.requests.map(\.jws)
        }
        let entries = try authenticators.map { authenticator in
            BatchFetchRequest.Entry(
                authenticatorId: try #require(TokenID(authenticator.id)),
                accessToken: try #require(AccessToken(authenticator.token)), after: nil)
        }
        let reply = await issuer.call(
            "POST", "/v1/batch-fetch", body: BatchFetchRequest(wait: 0, entries: entries).bytes)
        var count = 0
        for result in try reply.decoded(BatchFetchAnswer.init(bytes:)).results {
            guard case .list(let list) = result.outcome else { continue }
            #expect(Set(list.requests) == Set(sent[result.authenticatorId.text] ?? []))
            #expect(list.requests != sent[result.authenticatorId.text])
            count += list.requests.count
        }
        #expect(count == 100)
    }

    @Test func `the sandbox's own calls never fail`() async throws {
        let issuer = try TestIssuer(faults: "drop-before=1")
        for _ in 0..<20 {
            let reply = await issuer.post("/sandbox/enrollment-codes")
            #expect(reply.status == 201)
            #expect(reply.transmission == .whole)
        }
    }

    @Test func `only the calls that path names fail`() async throws {
        let issuer = try TestIssuer(faults: "500=1,path=jwks|fetch")
        let authenticator = try await issuer.enrolled()
        #expect(await issuer.call("GET", "/jwks.json").status == 500)
        #expect(await issuer.call("GET", "/v1/authn-requests", token: authenticator.token).status == 500)
        #expect(await issuer.call("GET", "/v1/authenticator", token: authenticator.token).status == 200)
        #expect(await issuer.call("GET", Discovery.path).status == 200)
    }

    private func outcomes(_ issuer: TestIssuer, _ path: String, count: Int) async -> [String] {
        var outcomes: [String] = []
        for _ in 0..<count {
            let reply = await issuer.call("GET", path)
            outcomes.append("\(reply.status) \(reply.transmission)")
        }
        return outcomes
    }

    private let mix = "drop-before=0.2,500=0.2,503=0.2,truncated=0.2"

    @Test func `the same seed gives the same faults, whatever other calls come between`() async throws {
        let (first, second) = (try TestIssuer(faults: mix + ",seed=42"), try TestIssuer(faults: mix + ",seed=42"))
        let other = try TestIssuer(faults: mix + ",seed=43")
        let expected = await outcomes(first, "/jwks.json", count: 40)
        var came: [String] = []
        for _ in 0..<40 {
            came += await outcomes(second, "/jwks.json", count: 1)
            _ = await outcomes(second, Discovery.path, count: 2)
        }
        #expect(came == expected)
        #expect(await outcomes(other, "/jwks.json", count: 40) != expected)
        #expect(await outcomes(first, Discovery.path, count: 40) != expected)
    }

    @Test func `a fault comes as often as its odds say`() async throws {
        let issuer = try TestIssuer(faults: "500=0.2,503=0.05,drop-after=0.3,seed=1")
        let outcomes = await outcomes(issuer, "/jwks.json", count: 4_000)
        func count(_ outcome: String) -> Int { outcomes.count { $0 == outcome } }
        // Within five standard deviations, and for this seed always the same.
        #expect((674...926).contains(count("500 whole")))
        #expect((132...268).contains(count("503 whole")))
        #expect((1_056...1_344).contains(count("200 nothing")))
        #expect((1_643...1_957).contains(count("200 whole")))
    }

    @Test func `what is planned comes before what is drawn`() async throws {
        let issuer = try TestIssuer(faults: "503=1")
        let fault: JSONValue = ["path": "jwks", "status": 502]
        _ = await issuer.post("/sandbox/faults", ["next": .array([fault])])
        #expect(await outcomes(issuer, "/jwks.json", count: 2).first == "502 whole")
        #expect(await issuer.call("GET", "/jwks.json").status == 503)
    }
}
