import IssuerProtocol
import Records
import StrictJSON
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct BatchFetchCallTests {
    private func request(_ link: Link, wait: Int = 0) throws -> BatchFetchRequest {
        let id = try #require(TokenID("a-1"))
        return BatchFetchRequest(
            wait: wait, entries: [.init(authenticatorId: id, accessToken: link.access.token, after: "c")])
    }

    private func discovery(_ link: Link) -> Discovery {
        let base = link.target.issuer.text
        return Discovery(
            issuer: link.target.issuer, jwksUri: "\(base)/jwks.json", enrollmentOptionsEndpoint: "\(base)/options",
            enrollmentsEndpoint: "\(base)/enrollments", authnRequestsEndpoint: "\(base)/requests",
            authenticatorEndpoint: "\(base)/authenticator", batchFetchEndpoint: "\(base)/v1/batch")
    }

    @Test func `a batch fetch is one POST with the tokens in its body, and none in its header`() async throws {
        try await Link.run { _ in
            .answer(200, text: #"{"results":[{"authenticatorId":"a-1","requests":["x"],"cursor":"d"}]}"#)
        } _: { link in
            let answer = try await link.gateway.batchFetch(link.target, discovery(link), request: try request(link))
            #expect(answer.results.map(\.outcome) == [.list(RequestList(requests: ["x"], cursor: "d"))])
            let received = try await link.firstRequest()
            #expect(received.method == "POST" && received.target == "/v1/batch")
            #expect(received.header("authorization") == nil)
            #expect(received.header("content-type") == "application/json")
            let sent = try BatchFetchRequest(bytes: received.body)
            #expect(sent.entries.map { $0.accessToken.reveal() } == [Link.token])
        }
    }

    @Test(arguments: [(2, true), (3, false)])
    func `its lists have together at most as many requests as are set`(count: Int, isTaken: Bool) async throws {
        var bounds = AnswerBounds()
        bounds.listRequests = 2
        let second = Array(repeating: #""x""#, count: count - 1).joined(separator: ",")
        try await Link.run(bounds: bounds) { _ in
            .answer(
                200,
                text: #"""
                    {"results":[{"authenticatorId":"a-1","requests":["x"],"cursor":"d"},
                     {"authenticatorId":"a-2","requests":[\#(second)],"cursor":"d"}]}
                    """#)
        } _: { link in
            let answer = try? await link.gateway.batchFetch(link.target, discovery(link), request: try request(link))
            #expect((answer != nil) == isTaken)
        }
    }

    @Test func `it may take 15 s more than it waits`() async throws {
        let clock = HeldClock()
        try await Link.run(clock: clock) { _ in
            .silence
        } _: { link in
            async let ended = mustFail {
                try await link.gateway.batchFetch(link.target, discovery(link), request: try request(link, wait: 50))
            }
            _ = try await link.firstRequest()
            clock.letGo()
            let failure = try await ended
            #expect(failure.reason == "the issuer did not answer within 65 s")
            #expect(clock.waits == [65])
        }
    }

    @Test func `an answer of 2 MiB is read, and not of more`() async throws {
        let head = #"{"results":[{"authenticatorId":"a-1","requests":[""#
        let tail = #""],"cursor":"d"}]}"#
        for (surplus, isRead) in [(0, true), (1, false)] {
            let fill = String(repeating: "x", count: 2_097_152 - head.utf8.count - tail.utf8.count + surplus)
            try await Link.run { _ in
                .answer(200, text: head + fill + tail)
            } _: { link in
                let answer = try? await link.gateway.batchFetch(
                    link.target, discovery(link), request: try request(link))
                #expect((answer != nil) == isRead)
            }
        }
    }

    @Test func `while it is held back a decision is not`() async throws {
        var limits = TransportLimits.patient
        limits.callConnections = 1
        try await Link.run(limits: limits) {
            $0.target == "/v1/batch" ? .silence : .authenticated
        } _: { link in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try? await link.gateway.batchFetch(
                        link.target, discovery(link), request: try request(link, wait: 60))
                }
                _ = try await link.firstRequest()
                try await link.decide()
                group.cancelAll()
            }
        }
    }

    @Test func `an issuer that lists no endpoint for it is not asked`() async throws {
        try await Link.run { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail {
                try await link.gateway.batchFetch(link.target, link.discovery, request: try request(link))
            }
            #expect(failure.reason == "the issuer has no batch fetch")
        }
    }
}
