import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// What the agent counts, and what it says of itself in numbers.
@Suite(.timeLimit(.minutes(20)))
struct FiguresTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func prepared() async throws -> SampleEnrollment {
        let card = try await sample.enrolled()
        try await sample.agent.prepare()
        sample.agent.keyWatch.health.firstLookIsOver()
        return card
    }

    @Test func `each end of a request counts once, under its outcome`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), .numbered(2), .numbered(3), .numbered(4), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await sample.decide(.deny(.userDenied), ids[1])
        try await sample.receive(SampleCancellation(cancels: "request-3"), for: card)
        try await sample.receive(SampleRequest(jti: "wrong", rpId: "other.example"), for: card)
        try await sample.receive(SampleRequest(jti: "late", exp: 0), for: card)
        let figures = await sample.agent.figures()
        #expect(figures.work.presented == 4)
        #expect(
            figures.work.outcomes == [.approved: 1, .denied: 1, .cancelled: 1, .refused: 1, .expired: 1])
        #expect(figures.work.refusals.counts.filter { $0.value > 0 } == ["rpId": 1])
        #expect(figures.holdings?.pending == 1)
        #expect(figures.holdings?.queued == 3)
        // Asked again, nothing counts again.
        #expect(await sample.agent.figures().work == figures.work)
    }

    @Test func `the oldest decision that waits for its answer is the one that was made first`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        #expect(await sample.agent.figures().holdings?.oldestQueued == 0)
        let ids = try await sample.requests().map(\.id)
        sample.clock.advance(by: 3)
        try await sample.approve(ids[1])
        sample.clock.advance(by: 5)
        try await sample.decide(.deny(.userDenied), ids[0])
        sample.clock.advance(by: 2)
        #expect(await sample.agent.figures().holdings?.oldestQueued == 7)
    }

    @Test func `what was before the start does not count`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), for: card)
        let later = try sample.restarted()
        sample.clock.advance(by: 7)
        try await later.agent.prepare()
        let figures = await later.agent.figures()
        #expect(figures.work == WorkCounts())
        #expect(figures.startedAt == SampleAgent.start + 7)
        #expect(figures.holdings?.pending == 1)
        #expect(figures.holdings?.oldestPending == 7)
    }

    @Test func `the time to a decision is from the request's coming to the person's word`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        sample.clock.advance(by: 3)
        try await sample.approve(ids[0])
        sample.clock.advance(by: 30)
        try await sample.decide(.deny(.userDenied), ids[1])
        let time = await sample.agent.figures().work.timeToDecision
        #expect(time.sum == 36)
        #expect(time.counts == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0])
    }

    @Test func `the time to a delivery is from the decision to the issuer's answer`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        sample.clock.advance(by: 40)
        try await sample.approve(id)
        sample.clock.advance(by: 12)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.request(id)?.life.delivery == .delivered(.authenticated) ? true : nil }
        }
        let work = await sample.agent.figures().work
        #expect(work.answers.counts == ["Y": 1, "N": 0])
        #expect(work.timeToDelivery.sum == 12)
        #expect(work.timeToDelivery.counts.reduce(0, +) == 1)
    }

    @Test func `more entries than a page has are all counted, also by two who ask at once`() async throws {
        let card = try await prepared()
        for _ in 1...2 {
            let first = try await sample.requests().count + 1
            try await sample.receive(
                messages: try (first..<first + 90).map { try sample.message(.numbered($0), for: card) }, for: card)
            for request in try await sample.requests().suffix(90) {
                try await sample.decide(.deny(.userDenied), request.id)
            }
        }
        async let one = sample.agent.figures()
        async let other = sample.agent.figures()
        #expect(await [one, other].map(\.work.presented) == [180, 180])
        #expect(await sample.agent.figures().work.outcomes[.denied] == 180)
    }

    @Test func `who asks waits for so many entries, and the next one goes on behind them`() async throws {
        let card = try await prepared()
        let tally = WorkTally(pageSize: 1, maxPages: 3)
        tally.begin(after: try await sample.agent.journal.newest(), at: 0)
        for number in 1...7 { try await sample.receive(.numbered(number), for: card) }
        var presented: [Int] = []
        for _ in 1...3 {
            try await tally.readOn(in: sample.store)
            presented.append(tally.counts.presented)
        }
        // Each has one entry.
        #expect(presented == [3, 6, 7])
    }

    @Test func `what many writes have left is counted before anybody asks, also after the store was in trouble`()
        async throws
    {
        let card = try await prepared()
        let store = BreakableStore(sample.store)
        store.breakReads()
        let tally = WorkTally(pageSize: 2, maxPages: 0)
        tally.begin(after: try await sample.agent.journal.newest(), at: 0)
        try await sample.running([{ [sample] in try await tally.count(in: store, sample.agent.hub) }]) {
            // What is written before it listens rings nothing.
            for number in 1...200 where tally.counts.presented < 7 {
                try await sample.receive(.numbered(number), for: card)
                try await Task.sleep(for: .milliseconds(5))
                if number == 10 { store.breakReads(false) }
            }
        }
        #expect(tally.counts.presented >= 7)
    }

    @Test func `no more than so many enrollments in trouble are named, and the others are counted`() async throws {
        for number in 1...23 {
            let card = try await sample.enrolled("\(number)")
            sample.agent.health.record(card.id, trouble: "down", at: 0)
        }
        let troubles = try await sample.agent.troubles()
        #expect(troubles.count == 21)
        #expect(troubles[19].hasSuffix("https://issuer.example: down"))
        #expect(troubles[20] == "3 more enrollments are in trouble")
        #expect(try await sample.agent.counts().enrollments == 23)
        #expect(await sample.agent.figures().holdings?.troubled == 23)
    }

    @Test func `if very many are in trouble, the store is asked about a few, and all are counted`() async throws {
        var cards: [SampleEnrollment] = []
        for number in 1...30 { cards.append(try await sample.enrolled("\(number)")) }
        for card in cards.prefix(9) { sample.agent.health.record(card.id, trouble: "down", at: 0) }
        sample.agent.health.record(cards[9].id, trouble: "its access token cannot be opened", cause: .key, at: 0)
        for card in cards[20..<25] { try await sample.change(card.id, .suspended) }
        func troubled(asking most: Int) async throws -> TroubledEnrollments {
            try await sample.store.read { [agent = sample.agent] in try agent.troubled(in: $0, asking: most) }
        }
        let all = cards.prefix(10).map(\.id) + cards[20..<25].map(\.id)
        #expect(try await troubled(asking: 15) == TroubledEnrollments(ids: all, count: 15))
        let causes: [Trouble.Cause: Int] = [.issuer: 9, .key: 1, .suspended: 5]
        #expect(try await troubled(asking: 14) == TroubledEnrollments(ids: all, count: 15, causes: causes))
        // Of those that are suspended some are enough.
        let some = TroubledEnrollments(ids: all.dropLast(), count: 15, causes: causes)
        #expect(try await troubled(asking: 3) == some)
        // Its issuer is down too: it is one enrollment all the same, and its key is the cause.
        sample.agent.keyWatch.health.record(KeyTest(extent: .seal, at: 0, problem: "gone"), of: cards[0].id)
        let withKey = try await troubled(asking: 14)
        #expect(withKey.count == 15 && withKey.causes == [.issuer: 8, .key: 2, .suspended: 5])
        for card in cards { sample.agent.health.record(card.id, trouble: "down", at: 0) }
        #expect(try await troubled(asking: 3).count == 30)
        #expect(try await troubled(asking: 3).ids.count <= Agent.maxTroubles + 4)
    }

    @Test func `a trouble that has another cause now, or is over, is counted as that and no more`() async throws {
        let (health, keys) = (sample.agent.health, sample.agent.keyWatch.health)
        let ids = try await [sample.enrolled("a").id, sample.enrolled("b").id]
        for id in ids {
            health.record(id, trouble: "down", at: 0)
            health.record(id, trouble: "its access token cannot be opened", cause: .key, at: 0)
            health.record(id, trouble: "down again", at: 0)
        }
        #expect(health.counts.filter { $0.value != 0 } == [.issuer: 2])
        for id in ids { health.record(id, trouble: nil, at: 0) }
        #expect(health.counts.allSatisfy { $0.value == 0 } && health.troubled(9).isEmpty)
        keys.record(KeyTest(extent: .seal, at: 0, problem: "gone"), of: ids[0])
        keys.record(KeyTest(extent: .seal, at: 0, problem: "gone"), of: ids[1])
        #expect(keys.failing == Set(ids))
        keys.record(KeyTest(extent: .seal, at: 1, problem: nil), of: ids[0])
        keys.forget(ids[1])
        #expect(keys.failing.isEmpty)
    }

    @Test func `a dropped message counts under its reason, also if the log has no line for it`() async throws {
        let card = try await prepared()
        for number in 1...3 { try await sample.receive(messages: ["no.jws.\(number)"], for: card) }
        try await sample.receive(SampleRequest(iat: 100_000, exp: 100_300), for: card)
        #expect(await sample.agent.figures().drops == [.notAuthentic: 3, .future: 1])
    }

    @Test func `if the store cannot be read the figures say so, and what was counted stays`() async throws {
        let card = try await prepared()
        try await sample.receive(.numbered(1), for: card)
        #expect(await sample.agent.figures().isReady)
        sample.store.breakReads()
        let figures = await sample.agent.figures()
        #expect(figures.holdings == nil && !figures.isReady && !figures.isStoreHealthy)
        #expect(figures.work.presented == 1)
    }

    @Test func `an issuer that does not answer is paused, until it answers or nobody is enrolled there`() async throws {
        let card = try await prepared()
        let answers = Channel<Result<RequestList, IssuerError>>()
        await sample.issuer.onFetch { (_) throws(IssuerError) in try await answers.answer().get() }
        try await sample.running([sample.agent.fetcher.run]) {
            _ = try await sample.issuer.fetched.next()
            answers.send(.failure(.transient(reason: "down", retryAfter: 90)))
            try await sample.clock.sleepers()
            let figures = await sample.agent.figures()
            #expect(figures.pauses == [card.enrollment.target.issuer.text: 90])
            #expect(figures.holdings?.troubled == 1 && !figures.isReady)
            sample.clock.advance(by: 90)
            _ = try await sample.issuer.fetched.next()
            answers.send(.success(RequestList(requests: [], cursor: "c1")))
            _ = try await sample.issuer.fetched.next()
            let later = await sample.agent.figures()
            #expect(later.pauses == [:] && later.isReady)
        }
    }

    @Test func `of an issuer's pauses the longest is told`() throws {
        let (health, issuer) = (IssuerHealth(), try SampleAgent.target.issuer)
        health.notePause(of: 1, at: issuer, until: 130)
        health.notePause(of: 2, at: issuer, until: 190)
        health.notePause(of: 3, at: issuer, until: 110)
        #expect(health.pauses(now: 100) == [issuer.text: 90])
    }

    @Test func `what was counted of an enrollment stays counted when that is over, and no more is kept of it`()
        async throws
    {
        let cards = [try await prepared(), try await sample.enrolled("b"), try await sample.enrolled("c")]
        let tally = sample.agent.tally
        for id in cards.map(\.id) {
            _ = tally.noteNew(id, by: .push, iat: nil, at: sample.now)
            _ = tally.noteNew(id, by: .poll, iat: nil, at: sample.now)
            tally.noteAgain(id)
            tally.noteRefused(id)
        }
        for card in cards.prefix(2) { _ = try await sample.agent.unenroll(card.id, locally: true, forced: true) }
        #expect(cards.map { tally.facts(of: $0.id) == nil } == [true, true, false])
        let figures = await sample.agent.figures()
        #expect([figures.pushed, figures.polled, figures.repeated, figures.refusedPushes] == [3, 3, 3, 3])
    }

    @Test func `the words that are counted apart are bounded`() {
        var counts = WordCounts()
        for number in 1...1_000 { counts.count("word-\(number)") }
        counts.count("word-1")
        #expect(counts.counts.count == WordCounts.limit + 1)
        #expect(counts.counts["word-1"] == 2)
        #expect(counts.counts[WordCounts.other] == 1_000 - WordCounts.limit)
    }

    @Test func `each known word has its number before it comes, and keeps it however many others there are`() {
        let known = WorkCounts()
        #expect(Set(known.answers.counts.keys) == ["Y", "N"])
        for word in ["commitment", "conflict", "tooManyMembers", "tooManyUndecided"] {
            #expect(known.refusals.counts[word] == 0)
        }
        #expect(
            known.failures.counts == [
                "already_decided": 0, "cancelled": 0, "damaged": 0, "decidedLate": 0, "expired": 0,
                "invalid_assertion": 0, "invalid_token": 0, "unenrolled": 0, "unknown_request": 0,
            ])
        var counts = WordCounts(known: ["a"])
        for number in 1...1_000 { counts.count("word-\(number)") }
        counts.count("a")
        #expect(counts.counts["a"] == 1)
        #expect(counts.counts.count == 1 + WordCounts.limit + 1)
    }

    @Test func `a time on a bucket's bound is in it, and one that a clock set back is none`() {
        var times = DurationHistogram()
        for seconds: Int64 in [-5, 0, 1, 2, 600, 601] { times.count(seconds) }
        #expect(times.counts == [3, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(times.sum == 1_204)
    }
}
