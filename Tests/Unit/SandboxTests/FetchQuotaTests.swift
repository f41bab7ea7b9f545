import IssuerProtocol
import StrictJSON
import Testing

@Suite struct FetchQuotaTests {
    private func fetch(_ issuer: TestIssuer, _ authenticator: SoftwareAuthenticator, after: String? = nil) async
        -> Reply
    {
        await issuer.call(
            "GET", "/v1/authn-requests", query: after.map { ["after": $0] } ?? [:], token: authenticator.token)
    }

    @Test(arguments: [true, false])
    func `an authenticator that fetches all the time is sent away until it is few enough`(
        hasCursor: Bool
    ) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        let cursor = hasCursor ? try await issuer.listed(authenticator).cursor : nil
        issuer.pass(seconds: 10)
        for _ in 0..<300 { #expect(await fetch(issuer, authenticator, after: cursor).outcome == "200") }
        let refused = await fetch(issuer, authenticator, after: cursor)
        #expect(refused.status == 429 && refused.code == nil && refused.retryAfter == 1)
        issuer.pass(seconds: 1)
        #expect(await fetch(issuer, authenticator, after: cursor).outcome == "200")
        let record = try await issuer.call("GET", "/sandbox/authenticators/\(authenticator.id)").object
        #expect(try record.integer("refusedFetches") == 1)
    }

    @Test func `ten a second come back, and never more than three hundred`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        for (seconds, count) in [(Int64(100), 300), (1, 10), (5, 50), (30, 300), (60, 300)] {
            issuer.pass(seconds: seconds)
            for _ in 0..<count { #expect(await fetch(issuer, authenticator).outcome == "200") }
            #expect(await fetch(issuer, authenticator).retryAfter == 1)
        }
    }

    @Test func `another authenticator's fetches and decisions go on`() async throws {
        let issuer = try TestIssuer()
        let (flooding, other) = (try await issuer.enrolled(), try await issuer.enrolled())
        let purchase = try await issuer.purchase(["authenticatorId": .string(flooding.id)])
        for _ in 0..<301 { _ = await fetch(issuer, flooding) }
        #expect(await fetch(issuer, flooding).status == 429)
        #expect(await fetch(issuer, other).outcome == "200")
        let body = try flooding.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, body, by: flooding).outcome == "200")
    }

    @Test func `fetches that bring something or wait do not count`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        var cursor = try await issuer.listed(authenticator).cursor
        for number in 0..<302 {
            if number.isMultiple(of: 2) { _ = try await issuer.purchase() }
            let query = ["after": cursor, "wait": "50"]
            let reply = await issuer.call("GET", "/v1/authn-requests", query: query, token: authenticator.token)
            cursor = try reply.decoded(RequestList.init(bytes:)).cursor
        }
        #expect(await fetch(issuer, authenticator).outcome == "200")
    }

    @Test func `a fault that lists all again makes nobody a flood`() async throws {
        let issuer = try TestIssuer(faults: "full-list=1")
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        for _ in 0..<301 { #expect(await fetch(issuer, authenticator, after: cursor).outcome == "200") }
    }
}
