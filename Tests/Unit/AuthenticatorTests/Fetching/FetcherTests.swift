import IssuerProtocol
import ScratchDirectories
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// One long poll after the other brings what an issuer has for an enrollment.
@Suite(.timeLimit(.minutes(20)))
struct FetcherTests: FetchSuite {
    let sample: SampleAgent
    let answers = Channel<Result<RequestList, IssuerError>>()

    init() throws { sample = try SampleAgent() }

    @Test func `the first fetch has no cursor, and each answer's goes into the next`() async throws {
        let card = try await sample.enrolled()
        try await fetching {
            let first = try await sample.issuer.fetched.next()
            #expect(first.cursor == nil && first.token == card.token && (1...60).contains(first.wait))
            answers.send(list([try sample.message(.numbered(1), for: card)], cursor: "c1"))
            #expect(try await sample.issuer.fetched.next().cursor == "c1")
            answers.send(list([try sample.message(.numbered(2), for: card)], cursor: "c2"))
            #expect(try await sample.issuer.fetched.next().cursor == "c2")
        }
        #expect(try await sample.requests().map(\.jti.text) == ["request-1", "request-2"])
    }

    @Test func `the cursor is not kept over a restart, and what comes again is known`() async throws {
        let card = try await sample.enrolled()
        let message = try sample.message(.numbered(1), for: card)
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(list([message], cursor: "c1"))
            _ = try await sample.issuer.fetched.next()
        }
        let later = try sample.restarted()
        try await later.running([later.agent.fetcher.run]) {
            #expect(try await sample.issuer.fetched.next().cursor == nil)
            answers.send(list([message], cursor: "c1"))
            _ = try await sample.issuer.fetched.next()
        }
        #expect(try await sample.requests().count == 1)
    }

    @Test func `the cursor stays where it is while the store fails`() async throws {
        let card = try await sample.enrolled()
        let message = try sample.message(.numbered(2), for: card)
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(list([try sample.message(.numbered(1), for: card)], cursor: "c1"))
            _ = try await sample.issuer.fetched.next()
            sample.store.breakWrites()
            answers.send(list([message], cursor: "c2"))
            try await sample.storeRecovered()
            #expect(try await sample.issuer.fetched.next().cursor == "c1")
            answers.send(list([message], cursor: "c2"))
            #expect(try await sample.issuer.fetched.next().cursor == "c2")
        }
        #expect(try await sample.requests().count == 2)
    }

    @Test func `the cursor stays where it is while no keys can be had`() async throws {
        let card = try await sample.enrolled()
        let keys = sample.issuerKeys
        let isDown = Box(true)
        await sample.issuer.onKeys { () throws(IssuerError) in
            if isDown.value { throw .down }
            return keys
        }
        let message = try sample.message(.numbered(1), for: card)
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(list([message], cursor: "c1"))
            try await sample.clock.wakeNext()
            #expect(try await sample.issuer.fetched.next().cursor == nil)
            isDown.set(false)
            answers.send(list([message], cursor: "c1"))
            #expect(try await sample.issuer.fetched.next().cursor == "c1")
        }
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `an unknown cursor makes it start without one`() async throws {
        _ = try await sample.enrolled()
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(list(cursor: "c1"))
            #expect(try await sample.issuer.fetched.next().cursor == "c1")
            answers.send(.failure(.problem(.unknownCursor)))
            #expect(try await sample.clock.wakeNext() <= 1)
            #expect(try await sample.issuer.fetched.next().cursor == nil)
        }
    }

    @Test func `failures back off from a second to five minutes, and an answer ends that`() async throws {
        _ = try await sample.enrolled()
        try await fetching {
            var pauses: [Double] = []
            for _ in 1...12 {
                _ = try await sample.issuer.fetched.next()
                answers.send(.failure(.down))
                pauses.append(try await sample.clock.wakeNext())
            }
            let ceilings: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
            for (pause, ceiling) in zip(pauses, ceilings) { #expect(pause <= ceiling) }
            #expect(pauses.contains { $0 > 8 })
            _ = try await sample.issuer.fetched.next()
            sample.clock.advance(by: 50)
            answers.send(list(cursor: "c1"))
            _ = try await sample.issuer.fetched.next()
            answers.send(.failure(.down))
            #expect(try await sample.clock.wakeNext() <= 1)
        }
    }

    @Test func `an unknown token suspends the enrollment, and it is looked at again after an hour`() async throws {
        let card = try await sample.enrolled()
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(.failure(.problem(.invalidToken)))
            try await sample.eventually { store in
                if case .suspended? = try store.enrollment(card.id)?.state { true } else { nil }
            }
            var slept = 0.0
            while slept < 3_600 { slept += try await sample.clock.wakeNext() }
            _ = try await sample.issuer.fetched.next()
            #expect(slept <= 3_660)
            answers.send(list(cursor: "c1"))
            try await sample.eventually { store in
                if case .active? = try store.enrollment(card.id)?.state { true } else { nil }
            }
            _ = try await sample.issuer.fetched.next()
        }
        #expect(try await sample.enrollment(card.id).sealedKey != nil)
    }

    @Test func `a suspended enrollment is looked at when a person says fetch`() async throws {
        let card = try await sample.enrolled()
        try await sample.change(card.id, .suspended)
        let message = try sample.message(.numbered(1), for: card)
        await sample.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [message], cursor: "c1") }
        #expect(try await sample.agent.fetch(card.id).isEmpty)
        guard case .active = try await sample.enrollment(card.id).state else { throw SampleError("not active") }
        let first = try #require(await sample.issuer.fetches.first)
        #expect(first.wait == 0 && first.cursor == nil)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `a person's fetch goes on while answers are full`() async throws {
        let card = try await sample.enrolled()
        let messages = try (1...101).map { try sample.message(.numbered($0), for: card) }
        await sample.issuer.onFetch { (fetch) throws(IssuerError) in
            fetch.cursor == nil
                ? RequestList(requests: Array(messages.prefix(100)), cursor: "c1")
                : RequestList(requests: Array(messages.suffix(1)), cursor: "c2")
        }
        #expect(try await sample.agent.fetch(card.id).isEmpty)
        #expect(await sample.issuer.fetches.map(\.cursor) == [nil, "c1"])
        #expect(try await sample.agent.counts().pending == 101)
    }

    @Test func `what could not be fetched is told with its reason, and the others are fetched`() async throws {
        let down = try await sample.enrolled("down")
        let up = try await sample.enrolled("up")
        let message = try sample.message(.numbered(1), for: up)
        await sample.issuer.onFetch { (fetch) throws(IssuerError) in
            if fetch.token == down.token { throw .down }
            return RequestList(requests: [message], cursor: "c1")
        }
        let failures = try await sample.agent.fetch(nil)
        #expect(failures.map(\.enrollment.id) == [down.id] && failures.map(\.reason) == ["no connection"])
        #expect(sample.agent.trouble(of: down.id) == "no connection" && sample.agent.trouble(of: up.id) == nil)
        #expect(try await sample.onlyRequest().enrollmentId == up.id)
    }

    @Test func `an enrollment that was just made is fetched for`() async throws {
        let first = try await sample.enrolled("first")
        try await sample.running([sample.agent.fetcher.run]) {
            #expect(try await sample.issuer.fetched.next().token == first.token)
            let second = try await sample.enrolled("second")
            sample.agent.hub.publish(.journaled(.enrolled, of: second.id))
            while try await sample.issuer.fetched.next().token != second.token {}
        }
    }

    @Test func `an issuer that answers at once with nothing is not asked without end`() async throws {
        _ = try await sample.enrolled()
        await sample.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [], cursor: "c1") }
        try await sample.running([sample.agent.fetcher.run]) {
            for _ in 1...20 { try await sample.clock.wakeNext() }
        }
        #expect(await sample.issuer.fetches.count <= 23)
    }

    @Test func `an issuer that lists the same under ever new cursors is asked once a second in the end`() async throws {
        let card = try await sample.enrolled()
        let messages = try (1...2).map { try sample.message(.numbered($0), for: card) }
        let count = Box(0)
        await sample.issuer.onFetch { (_) throws(IssuerError) in
            RequestList(requests: messages, cursor: "c\(count.next())")
        }
        try await sample.running([sample.agent.fetcher.run]) {
            for _ in 1...5 { try await sample.clock.wakeNext() }
            // What comes new among it is taken in all the same.
            let newcomer = try sample.message(.numbered(3), for: card)
            await sample.issuer.onFetch { (_) throws(IssuerError) in
                RequestList(requests: messages + [newcomer], cursor: "c\(count.next())")
            }
            try await sample.clock.wakeNext()
            try await sample.eventually { try $0.pendingCount(enrollment: card.id) == 3 ? true : nil }
        }
        #expect(await sample.issuer.fetches.count <= 220)
    }
}
