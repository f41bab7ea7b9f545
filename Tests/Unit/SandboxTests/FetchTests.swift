import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Testing
import ThreeDS

@Suite(.timeLimit(.minutes(20))) struct FetchTests {
    @Test func `an authenticator finds a listed request in order`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["merchantName": "CoffeeHouse2 (Dæmø)", "loyalty": "12"])
        let keys = try JWKSet(json: await issuer.call("GET", "/jwks.json").bytes)
        let facts = EnrollmentFacts(
            issuer: issuer.site.issuer, authenticatorId: try #require(TokenID(authenticator.id)), rpId: "localhost",
            credentialId: authenticator.credentialId, canVerifyUser: false, exponentPolicy: .refuse)
        let jws = try #require(try await issuer.listed(authenticator).requests.first)
        guard case .request(let read) = AuthnRequestReader.read(jws, for: facts, keys: keys, now: issuer.now),
            case .inOrder(let request) = read.verdict
        else {
            Issue.record("the agent's own reader does not take the request")
            return
        }
        #expect(request.jti.text == (try purchase.request.jti))
        #expect(request.transaction.merchantName == "CoffeeHouse2 (Dæmø)")
        #expect(request.transaction.otherMembers.map(\.name) == ["loyalty"])
    }

    @Test func `without a cursor all is listed, with one what came later`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let first = try await issuer.purchase()
        let list = try await issuer.listed(authenticator)
        #expect(list.requests == [try first.request.jws])
        let second = try await issuer.purchase()
        #expect(try await issuer.listed(authenticator).requests == [try first.request.jws, try second.request.jws])
        let later = try await fetch(issuer, authenticator, after: list.cursor)
        #expect(later.requests == [try second.request.jws])
        let none = try await fetch(issuer, authenticator, after: later.cursor)
        #expect(none.requests.isEmpty)
        #expect(none.cursor == later.cursor)
    }

    private func fetch(
        _ issuer: TestIssuer, _ authenticator: SoftwareAuthenticator, after cursor: String, wait: String = "60"
    ) async throws -> RequestList {
        let reply = await issuer.call(
            "GET", "/v1/authn-requests", query: ["after": cursor, "wait": wait], token: authenticator.token)
        return try reply.decoded(RequestList.init(bytes:))
    }

    @Test func `more than a hundred come in several answers, oldest first`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["repeat": 230, "newJti": true])
        var list = try await issuer.listed(authenticator)
        var all = list.requests
        #expect(all.count == 100)
        for count in [100, 30, 0] {
            list = try await fetch(issuer, authenticator, after: list.cursor)
            #expect(list.requests.count == count)
            all += list.requests
        }
        #expect(all == purchase.requests.map(\.jws))
    }

    @Test func `another authenticator's requests are not listed`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let second = try await issuer.enrolled()
        _ = try await issuer.purchase(["authenticatorId": .string(first.id)])
        #expect(try await issuer.listed(first).requests.count == 1)
        #expect(try await issuer.listed(second).requests.isEmpty)
    }

    @Test func `a purchase is the newest authenticator's unless it says whose`() async throws {
        let issuer = try TestIssuer()
        let first = try await issuer.enrolled()
        let second = try await issuer.enrolled()
        _ = try await issuer.purchase()
        #expect(try await issuer.listed(first).requests.isEmpty)
        #expect(try await issuer.listed(second).requests.count == 1)
    }

    @Test func `a request leaves the list at its expiry`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        _ = try await issuer.purchase(["expiresIn": 30])
        issuer.pass(seconds: 29)
        #expect(try await issuer.listed(authenticator).requests.count == 1)
        issuer.pass(seconds: 1)
        #expect(try await issuer.listed(authenticator).requests.isEmpty)
    }

    @Test func `a waiting fetch is answered by what comes`() async throws {
        let issuer = try TestIssuer(waitsEnd: false)
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        async let answer = fetch(issuer, authenticator, after: cursor)
        while issuer.backend.notifier.waiting == 0, !Task.isCancelled { await Task.yield() }
        let purchase = try await issuer.purchase()
        #expect(try await answer.requests == [try purchase.request.jws])
        #expect(issuer.backend.notifier.waiting == 0)
    }

    @Test func `a waiting fetch is answered invalid_token when the authenticator is revoked`() async throws {
        let issuer = try TestIssuer(waitsEnd: false)
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        async let answer = issuer.call(
            "GET", "/v1/authn-requests", query: ["after": cursor, "wait": "60"], token: authenticator.token)
        while issuer.backend.notifier.waiting == 0, !Task.isCancelled { await Task.yield() }
        #expect(await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke").status == 200)
        #expect(await answer.outcome == "401 invalid_token")
    }

    @Test func `one waiter too many is sent away for a second`() async throws {
        let issuer = try TestIssuer(waitsEnd: false, maxWaiters: 1)
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        async let first = fetch(issuer, authenticator, after: cursor)
        while issuer.backend.notifier.waiting == 0, !Task.isCancelled { await Task.yield() }
        let second = await issuer.call(
            "GET", "/v1/authn-requests", query: ["after": cursor, "wait": "60"], token: authenticator.token)
        #expect(second.outcome == "503")
        #expect(second.retryAfter == 1)
        _ = try await issuer.purchase()
        #expect(try await first.requests.count == 1)
    }

    @Test(arguments: ["", "x", "0", ".", "x.1", "0.99"])
    func `a cursor that was never given out is unknown`(cursor: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.call(
            "GET", "/v1/authn-requests", query: ["after": cursor], token: authenticator.token)
        #expect(reply.outcome == "410 unknown_cursor")
    }

    @Test func `a cursor of the future or written in another way is unknown`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        #expect(cursor.hasSuffix(".0"))
        for changed in [cursor.dropLast() + "1", cursor.dropLast() + "00", cursor.dropLast() + "-1", cursor + "."] {
            let reply = await issuer.call(
                "GET", "/v1/authn-requests", query: ["after": String(changed)], token: authenticator.token)
            #expect(reply.outcome == "410 unknown_cursor", "\(changed)")
        }
    }

    @Test(arguments: ["61", "-1", "x", "", "1.5", "99999999999999999999"])
    func `a wait that is no number of 0 to 60 is an invalid request`(wait: String) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let reply = await issuer.call(
            "GET", "/v1/authn-requests", query: ["wait": wait], token: authenticator.token)
        #expect(reply.outcome == "400 invalid_request")
    }
}
