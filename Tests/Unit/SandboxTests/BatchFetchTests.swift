import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

@Suite(.timeLimit(.minutes(20))) struct BatchFetchTests {
    private let issuer: TestIssuer

    init() throws { issuer = try TestIssuer() }

    private func body(
        _ asked: [(authenticator: SoftwareAuthenticator, after: String?)], wait: Int = 60
    ) throws -> [UInt8] {
        let entries = try asked.map { authenticator, after in
            BatchFetchRequest.Entry(
                authenticatorId: try #require(TokenID(authenticator.id)),
                accessToken: try #require(AccessToken(authenticator.token)), after: after)
        }
        return BatchFetchRequest(wait: wait, entries: entries).bytes
    }

    /// What an answer says of each authenticator, by id: the requests and the cursor, or the problem's code.
    private struct Said {
        let requests: [String]
        let cursor: String?
        let problem: ProblemCode?
    }

    private func fetch(
        _ asked: [(SoftwareAuthenticator, String?)], from issuer: TestIssuer? = nil
    ) async throws -> [String: Said] {
        let reply = await (issuer ?? self.issuer).call("POST", "/v1/batch-fetch", body: try body(asked))
        let results = try reply.decoded(BatchFetchAnswer.init(bytes:)).results
        return Dictionary(
            uniqueKeysWithValues: results.map { result in
                switch result.outcome {
                case .list(let list):
                    (result.authenticatorId.text, Said(requests: list.requests, cursor: list.cursor, problem: nil))
                case .problem(let code):
                    (result.authenticatorId.text, Said(requests: [], cursor: nil, problem: code))
                }
            })
    }

    private func purchase(for authenticator: SoftwareAuthenticator, times: Int64 = 1) async throws -> [String] {
        let purchase = try await issuer.purchase([
            "authenticatorId": .string(authenticator.id), "repeat": .integer(times), "newJti": true,
        ])
        return purchase.requests.map(\.jws)
    }

    @Test func `discovery lists the batch fetch`() async throws {
        let bytes = await issuer.call("GET", Discovery.path).bytes
        let discovery = try Discovery(json: bytes, expected: issuer.site.issuer)
        #expect(discovery.batchFetchEndpoint == issuer.site.issuer.text + "/v1/batch-fetch")
    }

    @Test func `each is told what is listed for it, and without a cursor also that nothing is`() async throws {
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        let requests = try await purchase(for: first)
        let said = try await fetch([(first, nil), (second, nil)])
        #expect(said[first.id]?.requests == requests)
        #expect(said[second.id]?.requests == [])
        #expect(said[second.id]?.cursor != nil)
    }

    @Test func `with cursors only those are named for whom something came later`() async throws {
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        _ = try await purchase(for: first)
        let before = try await fetch([(first, nil), (second, nil)])
        let later = try await purchase(for: second)
        let said = try await fetch([(first, before[first.id]?.cursor), (second, before[second.id]?.cursor)])
        #expect(Set(said.keys) == [second.id])
        #expect(said[second.id]?.requests == later)
        let none = try await fetch([(first, before[first.id]?.cursor), (second, said[second.id]?.cursor)])
        #expect(none.isEmpty)
    }

    @Test func `a cursor of a batch fetch is one of a fetch, and the other way round`() async throws {
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        let later = try await purchase(for: authenticator)
        let said = try await fetch([(authenticator, cursor)])
        #expect(said[authenticator.id]?.requests == later)
        let next = try #require(said[authenticator.id]?.cursor)
        let reply = await issuer.call(
            "GET", "/v1/authn-requests", query: ["after": next], token: authenticator.token)
        #expect(try reply.decoded(RequestList.init(bytes:)).requests.isEmpty)
    }

    @Test func `a hundred requests come in one answer, the oldest of all, and the rest in the next`() async throws {
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        let old = try await purchase(for: second, times: 30)
        let many = try await purchase(for: first, times: 90)
        let new = try await purchase(for: second, times: 1)
        let said = try await fetch([(first, nil), (second, nil)])
        #expect(said[first.id]?.requests == Array(many.prefix(70)))
        #expect(said[second.id]?.requests == old)
        let next = try await fetch([(first, said[first.id]?.cursor), (second, said[second.id]?.cursor)])
        #expect(next[first.id]?.requests == Array(many.suffix(20)))
        #expect(next[second.id]?.requests == new)
    }

    @Test func `one for whom an answer has no room is not named in it`() async throws {
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        _ = try await purchase(for: first, times: 100)
        let rest = try await purchase(for: second)
        let said = try await fetch([(first, nil), (second, nil)])
        #expect(Set(said.keys) == [first.id])
        #expect(try await fetch([(first, said[first.id]?.cursor), (second, nil)])[second.id]?.requests == rest)
    }

    @Test func `an ended token, another's and a cursor that was never given out are problems of one alone`()
        async throws
    {
        let authenticators = [
            try await issuer.enrolled(), try await issuer.enrolled(), try await issuer.enrolled(),
            try await issuer.enrolled(),
        ]
        let requests = try await purchase(for: authenticators[0])
        #expect(await issuer.post("/sandbox/authenticators/\(authenticators[1].id)/revoke").status == 200)
        var foreign = authenticators[2]
        foreign.token = authenticators[0].token
        let said = try await fetch([
            (authenticators[0], nil), (authenticators[1], nil), (foreign, nil), (authenticators[3], "x.1"),
        ])
        #expect(said[authenticators[0].id]?.requests == requests)
        #expect(said[authenticators[1].id]?.problem == .invalidToken)
        #expect(said[authenticators[2].id]?.problem == .invalidToken)
        #expect(said[authenticators[3].id]?.problem == .unknownCursor)
    }

    @Test func `a waiting call is answered by what comes for any of them, and by a token that ends`() async throws {
        let issuer = try TestIssuer(waitsEnd: false)
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        let cursor = try await issuer.listed(first).cursor
        async let answer = fetch([(first, cursor), (second, cursor)], from: issuer)
        while issuer.backend.notifier.waiting < 2, !Task.isCancelled { await Task.yield() }
        _ = try await issuer.purchase(["authenticatorId": .string(first.id)])
        #expect(try await Set(answer.keys) == [first.id])
        #expect(issuer.backend.notifier.waiting == 0)

        let next = try await issuer.listed(first).cursor
        async let ended = fetch([(first, next), (second, next)], from: issuer)
        while issuer.backend.notifier.waiting < 2, !Task.isCancelled { await Task.yield() }
        #expect(await issuer.post("/sandbox/authenticators/\(second.id)/revoke").status == 200)
        #expect(try await ended[second.id]?.problem == .invalidToken)
    }

    @Test func `a call for more topics than may be waited for is sent away`() async throws {
        let issuer = try TestIssuer(waitsEnd: false, maxWaiters: 1)
        let (first, second) = (try await issuer.enrolled(), try await issuer.enrolled())
        let cursor = try await issuer.listed(first).cursor
        let bytes = try body([(first, cursor), (second, cursor)])
        #expect(await issuer.call("POST", "/v1/batch-fetch", body: bytes).outcome == "503")
        #expect(issuer.backend.notifier.waiting == 0)
    }

    @Test func `what is no batch fetch is an invalid request`() async throws {
        for body in ["", "{}", #"{"wait":0,"authenticators":[]}"#] {
            let reply = await issuer.call("POST", "/v1/batch-fetch", body: Array(body.utf8))
            #expect(reply.outcome == "400 invalid_request")
        }
    }
}
