import IssuerProtocol
import StrictJSON
import Testing

/// A list of 100 requests, again and again.
@Suite struct RelistingTests {
    private struct Fetched: Equatable {
        let requests: [String]
        let cursor: String
    }

    private func fetch(
        _ issuer: TestIssuer, _ authenticator: SoftwareAuthenticator, after: String?
    ) async throws -> Fetched {
        let reply = await issuer.call(
            "GET", "/v1/authn-requests", query: after.map { ["after": $0, "wait": "60"] } ?? [:],
            token: authenticator.token)
        let list = try reply.decoded(RequestList.init(bytes:))
        return Fetched(requests: list.requests, cursor: list.cursor)
    }

    /// The requests that are listed, and what three fetches bring, each from the cursor of the one before.
    private func fetches(_ faults: String) async throws -> (sent: [String], came: [Fetched]) {
        // Only news would end a wait.
        let issuer = try TestIssuer(waitsEnd: false, faults: faults)
        let authenticator = try await issuer.enrolled()
        let sent = try await issuer.purchase(["repeat": 3, "newJti": true]).requests.map(\.jws)
        var came: [Fetched] = []
        for _ in 0..<3 { came.append(try await fetch(issuer, authenticator, after: came.last?.cursor)) }
        return (sent, came)
    }

    @Test(arguments: ["full-list", "full-list-moving"])
    func `every fetch brings all that is listed at once, over and over up to a hundred`(kind: String) async throws {
        let (sent, came) = try await fetches("\(kind)=1")
        for list in came {
            #expect(list.requests.count == 100)
            #expect(Set(list.requests) == Set(sent) && Array(list.requests.prefix(3)) == sent)
        }
    }

    @Test func `the cursor stays where it was`() async throws {
        #expect(Set(try await fetches("full-list=1").came.map(\.cursor)).count == 1)
    }

    @Test func `the cursor moves each time, to one that the issuer knows`() async throws {
        let came = try await fetches("full-list-moving=1").came
        #expect(zip(came, came.dropFirst()).allSatisfy { $0.cursor != $1.cursor })
    }

    @Test func `if nothing is listed nothing comes`() async throws {
        let issuer = try TestIssuer(faults: "full-list=1")
        #expect(try await fetch(issuer, try await issuer.enrolled(), after: nil).requests.isEmpty)
    }

    @Test func `a batch fetch brings all lists again, together a hundred`() async throws {
        let issuer = try TestIssuer(waitsEnd: false, faults: "full-list=1")
        var entries: [BatchFetchRequest.Entry] = []
        for count in [1, 2] {
            let authenticator = try await issuer.enrolled()
            _ = try await issuer.purchase(["repeat": .integer(Int64(count)), "newJti": true])
            entries.append(
                BatchFetchRequest.Entry(
                    authenticatorId: try #require(TokenID(authenticator.id)),
                    accessToken: try #require(AccessToken(authenticator.token)), after: nil))
        }
        for _ in 0..<2 {
            let reply = await issuer.call(
                "POST", "/v1/batch-fetch", body: BatchFetchRequest(wait: 60, entries: entries).bytes)
            let results = try reply.decoded(BatchFetchAnswer.init(bytes:)).results
            let lists = results.compactMap { if case .list(let list) = $0.outcome { list } else { nil } }
            #expect(lists.map(\.requests.count).reduce(0, +) == 100)
            #expect(lists.map { Set($0.requests).count } == [1, 2])
            entries = zip(entries, lists).map { entry, list in
                BatchFetchRequest.Entry(
                    authenticatorId: entry.authenticatorId, accessToken: entry.accessToken, after: list.cursor)
            }
        }
    }
}
