import StrictJSON
import Testing

@Suite struct PurchaseRegisterTests {
    private func list(_ issuer: TestIssuer, _ query: [String: String] = [:]) async throws -> JSONObject {
        let reply = await issuer.call("GET", "/sandbox/purchases", query: query)
        try #require(reply.status == 200, "\(reply)")
        return try reply.object
    }

    private func names(_ list: JSONObject) throws -> [String] {
        try list.array("purchases").map { element in
            guard case .object(let purchase) = element else { return "" }
            return try "\(purchase.object("transaction").string("merchantName")) \(purchase.string("status"))"
        }
    }

    /// One purchase of each way to end, the oldest first, and one that is pending.
    private func issuerWithAll() async throws -> TestIssuer {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        _ = try await issuer.purchase(["merchantName": "A", "expiresIn": 60])
        issuer.pass(seconds: 60)
        let approved = try await issuer.purchase(["merchantName": "B"])
        let body = try authenticator.approval(of: approved.request)
        _ = await issuer.decide(try approved.request.jti, body, by: authenticator)
        let left = try await issuer.purchase(["merchantName": "C"])
        _ = await issuer.post("/sandbox/purchases/\(left.acsTransId)/cancel")
        _ = try await issuer.purchase(["merchantName": "D"])
        return issuer
    }

    @Test func `the newest comes first, also what has expired unseen`() async throws {
        let issuer = try await issuerWithAll()
        let list = try await list(issuer)
        #expect(try names(list) == ["D pending", "C cancelled", "B authenticated", "A expired"])
        #expect(list["next"] == nil)
    }

    @Test(arguments: [
        ("pending", ["D pending"]), ("cancelled", ["C cancelled"]), ("authenticated", ["B authenticated"]),
        ("expired", ["A expired"]), ("notAuthenticated", []),
    ])
    func `those of one status are listed by themselves`(status: String, expected: [String]) async throws {
        let issuer = try await issuerWithAll()
        #expect(try names(try await list(issuer, ["status": status])) == expected)
    }

    @Test func `a list goes on after its last purchase`() async throws {
        let issuer = try await issuerWithAll()
        let first = try await list(issuer, ["limit": "3"])
        #expect(try names(first) == ["D pending", "C cancelled", "B authenticated"])
        let rest = try await list(issuer, ["limit": "3", "after": first.string("next")])
        #expect(try names(rest) == ["A expired"] && rest["next"] == nil)
    }

    @Test func `what was forced under an acsTransId is in the story of the first`() async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let first = try await issuer.purchase(["merchantName": "A"])
        _ = try await issuer.purchase([
            "merchantName": "B", "acsTransId": .string(first.acsTransId), "force": true,
        ])
        #expect(try names(try await list(issuer)) == ["A pending"])
    }

    @Test(arguments: [
        (["limit": "0"], "limit: must be a whole number of 1 to 1000"), (["limit": "1001"], "limit: must"),
        (["limit": "ten"], "limit: must"), (["limit": ""], "limit: must"),
        (["status": "pendin"], "status: no such status; did you mean pending?"),
        (["status": "open"], "status: no such status; allowed are pending, "), (["after": "x"], "after: must be"),
    ])
    func `a wrong query is refused and says what is allowed`(query: [String: String], detail: String) async throws {
        let reply = await (try TestIssuer()).call("GET", "/sandbox/purchases", query: query)
        #expect(reply.outcome == "400")
        #expect(reply.detail?.hasPrefix(detail) == true, "\(reply)")
    }

    @Test func `a list cannot go on after a purchase that there is not`() async throws {
        let query = ["after": "00000000-0000-0000-0000-000000000000"]
        #expect(await (try TestIssuer()).call("GET", "/sandbox/purchases", query: query).outcome == "404")
    }
}
