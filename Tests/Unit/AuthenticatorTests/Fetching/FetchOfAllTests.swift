import IssuerProtocol
import TableRows
import Testing

@testable import Authenticator
@testable import Records

/// A person's fetch of all enrollments reads them a page at a time, and asks for as many at once as issuers allow.
@Suite(.timeLimit(.minutes(20)))
struct FetchOfAllTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func target(_ host: String) throws -> IssuerTarget {
        IssuerTarget(issuer: try IssuerURL("https://\(host).example"), rootsPEM: nil)
    }

    @Test(arguments: [1, 2, 3, 100])
    func `all are asked for, with one call for each page at an issuer that has a batch fetch`(page: Int) async throws {
        var cards: [SampleEnrollment] = []
        for name in ["a", "b", "c", "d", "e"] { cards.append(try await sample.enrolled(name)) }
        let message = try sample.message(.numbered(1), for: cards[3])
        await sample.issuer.onBatchFetch { (asked) throws(IssuerError) in
            guard let id = TokenID("authenticator-d"), asked.cursors[id.text] != nil else {
                return BatchFetchAnswer(results: [])
            }
            return BatchFetchAnswer(results: [
                .init(authenticatorId: id, outcome: .list(RequestList(requests: [message], cursor: "1")))
            ])
        }
        await sample.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [], cursor: "1") }
        // One alone at its issuer in a page needs no batch.
        #expect(try await sample.agent.fetcher.fetchAll(page: page).isEmpty)
        let (batches, single) = (await sample.issuer.batchFetches, await sample.issuer.fetches)
        #expect(batches.map(\.cursors.count).reduce(0, +) + single.count == 5)
        #expect(batches.count == 5 / page + (5 % page > 1 ? 1 : 0) - (page == 1 ? 5 : 0))
        #expect(batches.allSatisfy { $0.wait == 0 })
        if page > 1 { #expect(try await sample.onlyRequest().enrollmentId == cards[3].id) }
    }

    @Test func `a batch goes on while its answers are full, from where each has come to`() async throws {
        let (a, b) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let messages = try (1...101).map { try sample.message(.numbered($0), for: a) }
        let ofB = try sample.message(.numbered(200), for: b)
        let ids = try ["authenticator-a", "authenticator-b"].map { try #require(TokenID($0)) }
        await sample.issuer.onBatchFetch { (asked) throws(IssuerError) in
            let isFirst = asked.cursors["authenticator-a"] == .some(nil)
            let (list, next) = isFirst ? (messages.prefix(100), "100") : (messages.suffix(1), "101")
            var results = [
                BatchFetchAnswer.Result(
                    authenticatorId: ids[0], outcome: .list(RequestList(requests: Array(list), cursor: next)))
            ]
            if !isFirst {
                results.append(
                    .init(authenticatorId: ids[1], outcome: .list(RequestList(requests: [ofB], cursor: "1"))))
            }
            return BatchFetchAnswer(results: results)
        }
        #expect(try await sample.agent.fetch(nil).isEmpty)
        #expect(await sample.issuer.batchFetches.map { $0.cursors["authenticator-a"] } == [.some(nil), "100"])
        #expect(try await sample.agent.counts().pending == 102)
    }

    @Test(arguments: [1, 2])
    func `one whose row is damaged while its issuer answers fails alone`(page: Int) async throws {
        let (a, b) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let lists = try [a, b].map {
            RequestList(requests: [try sample.message(SampleRequest(), for: $0)], cursor: "1")
        }
        let ids = try ["authenticator-a", "authenticator-b"].map { try #require(TokenID($0)) }
        let damage: @Sendable () throws(IssuerError) -> Void = { [sample] () throws(IssuerError) in
            do {
                try sample.tamper("UPDATE enrollment SET sign_count = 7 WHERE id = ?", [a.id.text])
            } catch {
                throw .down
            }
        }
        await sample.issuer.onBatchFetch { (_) throws(IssuerError) in
            try damage()
            return BatchFetchAnswer(results: [
                .init(authenticatorId: ids[0], outcome: .list(lists[0])),
                .init(authenticatorId: ids[1], outcome: .list(lists[1])),
            ])
        }
        await sample.issuer.onFetch { (asked) throws(IssuerError) in
            try damage()
            return asked.token == "token-a" ? lists[0] : lists[1]
        }
        #expect(try await sample.agent.fetcher.fetchAll(page: page).map(\.enrollment.id) == [a.id])
        #expect(try await sample.onlyRequest().enrollmentId == b.id)
    }

    @Test func `one that an issuer has a problem with fails alone, and a token that is unknown is suspended`()
        async throws
    {
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b"), try await sample.enrolled("c")]
        let (a, b) = (try #require(TokenID("authenticator-a")), try #require(TokenID("authenticator-b")))
        await sample.issuer.onBatchFetch { (_) throws(IssuerError) in
            BatchFetchAnswer(results: [
                .init(authenticatorId: a, outcome: .problem(.invalidToken)),
                .init(authenticatorId: b, outcome: .problem(.invalidRequest)),
            ])
        }
        let failures = try await sample.agent.fetch(nil)
        #expect(
            Set(failures.map(\.reason)) == ["the issuer answered invalid_token", "the issuer answered invalid_request"])
        guard case .suspended = try await sample.enrollment(cards[0].id).state else {
            throw SampleError("not suspended")
        }
        #expect(sample.agent.trouble(of: cards[1].id) == "the issuer answered invalid_request")
        #expect(sample.agent.trouble(of: cards[2].id) == nil)
    }

    @Test func `an issuer that does not answer is told once, and is not asked for those of later pages`() async throws {
        let (down, up) = (try target("down"), try target("up"))
        for number in 1...6 { _ = try await sample.enrolled("\(number)", target: number.isMultiple(of: 2) ? up : down) }
        await sample.issuer.onFetch { (fetch) throws(IssuerError) in
            if let number = Int(fetch.token.dropFirst("token-".count)), number.isMultiple(of: 2) {
                return RequestList(requests: [], cursor: "1")
            }
            throw .down
        }
        let failures = try await sample.agent.fetcher.fetchAll(page: 2)
        #expect(failures.map(\.enrollment.target) == [down] && failures.map(\.count) == [3])
        #expect(failures.map(\.reason) == ["no connection"])
        #expect(await sample.issuer.fetches.count == 4)
    }

    @Test func `so many reasons are told, and the rest is counted`() async throws {
        let card = try await sample.enrolled().enrollment
        var failures = FetchFailures()
        for number in 1...250 { failures.add(card, "reason \(number)") }
        #expect(failures.all.count == FetchFailures.limit)
        #expect(failures.all.map(\.count).reduce(0, +) == 250)
    }
}
