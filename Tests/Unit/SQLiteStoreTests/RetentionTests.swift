import FoundationEssentials
import GRDB
import IssuerProtocol
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// What is removed once it was over for long enough, and what never is.
struct RetentionTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func remove(before time: Int64, limit: Int = 100) async throws -> Int {
        try await sample.store.write { try $0.removeWhatWasOver(before: time, limit: limit) }
    }

    private var requestIds: [String] {
        get async throws {
            try await sample.store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 100) }
                .map(\.id.text)
        }
    }

    @Test(arguments: [
        RequestLife.expired, .cancelled, RequestLife(state: .approved, delivery: .delivered(.authenticated)),
        RequestLife(state: .denied(.userDenied), delivery: .failed(token: "expired")),
        RequestLife(state: .refused(token: "nonce", reason: .invalidRequest), delivery: .failed(token: "expired")),
    ])
    func `what is over goes from the second after its exp on`(life: RequestLife) async throws {
        let card = try await sample.enrollment()
        try await sample.insert(SampleStore.request(1, of: card, life: life))
        #expect(try await remove(before: 1_001) == 0)
        #expect(try await remove(before: 1_002) == 1)
        #expect(try await requestIds.isEmpty)
    }

    @Test(arguments: [
        RequestLife.pending, RequestLife(state: .approved, delivery: .queued),
        RequestLife(state: .denied(.userDenied), delivery: .queued),
        .refused(token: "nonce", reason: .invalidRequest),
    ])
    func `what is undecided or waits for the issuer's answer stays, however old`(life: RequestLife) async throws {
        let card = try await sample.enrollment()
        let request = try SampleStore.request(1, of: card, life: life)
        try await sample.insert(request)
        #expect(try await remove(before: .max) == 0)
        #expect(try await requestIds == [request.id.text])
    }

    @Test func `a request that a newer message took over lasts as long as that one`() async throws {
        let card = try await sample.enrollment()
        var request = try SampleStore.request(1, of: card, life: .expired)
        try await sample.insert(request)
        request.exp = 90_000
        let newer = request
        try await sample.store.write { try $0.update(newer) }
        #expect(try await remove(before: 90_000) == 0)
        #expect(try await remove(before: 90_001) == 1)
    }

    @Test func `a refused one whose exp is missing or absurd goes by when it came`() async throws {
        let card = try await sample.enrollment()
        let life = RequestLife(
            state: .refused(token: "expMissing", reason: .invalidRequest), delivery: .delivered(.notAuthenticated))
        for (number, exp) in [(1, nil), (2, Int64.max)] {
            var request = try SampleStore.request(number, of: card, life: life)
            (request.presented, request.exp) = (nil, exp)
            try await sample.insert(request)
        }
        #expect(try await remove(before: 7) == 0)
        #expect(try await remove(before: 8) == 2)
    }

    @Test func `a message stays as long as its request, and one of no request as long as itself`() async throws {
        let card = try await sample.enrollment()
        let request = try SampleStore.request(1, of: card)
        try await sample.insert(request)
        let (own, cancellation) = (try #require(TokenID("own")), try #require(TokenID("cancellation")))
        try await sample.store.write { store in
            for (jti, id) in [(own, Optional(request.id)), (cancellation, nil)] {
                try store.insert(
                    SeenMessage(enrollmentId: card.id, jti: jti, payloadDigest: [1], requestId: id, seenAt: 10))
            }
        }
        #expect(try await remove(before: 10) == 0)
        #expect(try await remove(before: 2_000) == 1)
        #expect(try await sample.store.read { try $0.message(enrollment: card.id, jti: own) } != nil)
        #expect(try await sample.store.read { try $0.message(enrollment: card.id, jti: cancellation) } == nil)
        var over = request
        over.life = .expired
        let closed = over
        try await sample.store.write { try $0.update(closed) }
        #expect(try await remove(before: 2_000) == 2)
        #expect(try await sample.store.read { try $0.message(enrollment: card.id, jti: own) } == nil)
    }

    @Test func `an enrollment that is over goes when nothing refers to it any more`() async throws {
        try await sample.enrollment("a")
        let id = try #require(TokenID("auth-b"))
        let over = try SampleStore.enrollment("b", state: .ended(authenticatorId: id), endedAt: 50)
        try await sample.store.write { try $0.insert(over) }
        try await sample.insert(SampleStore.request(1, of: over, life: .expired))
        #expect(try await remove(before: 60) == 0)
        #expect(try await remove(before: 1_002, limit: 1) == 1)
        let left = try await sample.store.read { try $0.enrollments(includingEnded: true) }.map(\.id)
        #expect(left.count == 2)
        #expect(try await remove(before: 50) == 0)
        #expect(try await remove(before: 51) == 1)
        let last = try await sample.store.read { try $0.enrollments(includingEnded: true) }.map(\.id)
        #expect(last == left.filter { $0 != over.id })
    }

    @Test func `an enrollment whose personal data is still to be erased stays`() async throws {
        let over = try SampleStore.enrollment("a", state: .ended(authenticatorId: nil), endedAt: 50)
        try await sample.store.write { store in
            try store.insert(over)
            try store.wantErasure(of: over.id)
        }
        #expect(try await remove(before: 60) == 0)
        _ = try await sample.store.write { try $0.concludeErasure(of: over.id) }
        #expect(try await remove(before: 60) == 1)
    }

    @Test func `one step removes the oldest, and no more than it may`() async throws {
        let card = try await sample.enrollment()
        for number in 1...7 { try await sample.insert(SampleStore.request(number, of: card, life: .expired)) }
        #expect(try await remove(before: 2_000, limit: 3) == 3)
        #expect(try await requestIds.count == 4)
        #expect(try await remove(before: 2_000, limit: 3) == 3)
        #expect(try await remove(before: 2_000, limit: 3) == 1)
    }
}
