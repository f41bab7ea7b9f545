import IssuerProtocol
import Testing

@testable import Authenticator

/// Whoever reads events misses none, whenever they come back.
struct EventReplayTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent(AgentSettings(eventsKept: 10, version: "1.2.3")) }

    private func page(_ sequence: Int64, of agent: SampleAgent? = nil) async throws -> EventPage {
        try await (agent ?? sample).agent.journal.events(after: EventCursor(sequence))
    }

    @Test func `events are the entries that a reader can act on, with their numbers`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        try await sample.deliverAll()
        let events = try await page(0).events
        #expect(events.map(\.name) == [.requestPresented, .requestDecided, .requestDelivered])
        #expect(events.map(\.sequence) == [3, 4, 7])
        let id = try await sample.onlyRequest().id
        #expect(events.allSatisfy { $0.request == id && $0.enrollment == card.id })
        #expect(try await page(3).events.map(\.name) == [.requestDecided, .requestDelivered])
        #expect(try await page(7).events.isEmpty)
        #expect(try await page(0).position == EventCursor(7))
    }

    @Test func `every kind of event comes about`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        var last: Int64 = 0
        var names: [JournalEvent.Name] = []
        func look() async throws {
            let page = try await page(last)
            last = page.position[""]
            names += page.events.map(\.name)
        }
        try await look()
        let acsTransId = SampleRequest.numbered(1).acsTransId
        try await sample.receive(SampleRequest(jti: "b", iat: 1, acsTransId: acsTransId), for: card)
        try await sample.receive(SampleRequest(jti: "c", acsTransId: acsTransId, purchaseAmount: "2"), for: card)
        try await look()
        try await sample.decide(.deny(.userDenied), try await sample.requests()[0].id)
        try await sample.receive(SampleRequest(jti: "d", iat: 2, acsTransId: acsTransId), for: card)
        try await look()
        sample.clock.advance(by: 600)
        try await sample.deliverAll()
        try await look()
        try await sample.receive(SampleRequest(jti: "late"), for: card)
        try await sample.agent.fetcher.setKnown(false, try await sample.enrollment(card.id))
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        try await look()
        #expect(
            names == [
                .requestPresented, .requestSuperseded, .requestRefused, .requestConflict, .requestDecided,
                .requestDuplicate, .requestDeliveryFailed, .requestDeliveryFailed, .requestExpired, .suspended,
                .unenrolled,
            ])
    }

    @Test func `an answer to a message that is no request of its own is no event`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), try await sample.onlyRequest().id)
        try await sample.deliverAll()
        let before = try await page(0).position[""]
        try await sample.receive(SampleRequest(jti: "again"), for: card)
        try await sample.deliverAll()
        #expect(try await page(before).events.map(\.name) == [.requestDuplicate])
        #expect(try await sample.journal().count { $0.kind == .answered } == 2)
    }

    @Test func `if events are no longer kept a gap comes first, and the reader goes on behind it`() async throws {
        for _ in 0..<30 { try await sample.agent.conclude() }
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let newest = try await sample.agent.journal.newest()
        #expect(try await page(newest - 10).events.map(\.name) == [.requestPresented])
        let late = try await page(newest - 11)
        #expect(late.events.map(\.name) == [.gap, .requestPresented])
        #expect(late.events[0].sequence == newest - 10)
        #expect(try await page(late.position[""]).events.isEmpty)
    }

    @Test func `a reader from a future that this store does not have is told of the gap`() async throws {
        try await sample.agent.prepare()
        let newest = try await sample.agent.journal.newest()
        let page = try await page(newest + 1)
        #expect(page.events.map(\.name) == [.gap])
        #expect(page.position == EventCursor(newest))
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await self.page(page.position[""]).events.map(\.name) == [.requestPresented])
    }

    @Test func `who waits is told when something happens, and after a restart what happened meanwhile`() async throws {
        let card = try await sample.enrolled()
        try await sample.agent.prepare()
        let newest = try await sample.agent.journal.newest()
        async let waiting = next(after: newest, of: sample)
        try await sample.clock.sleepers()
        try await sample.receive(SampleRequest(), for: card)
        let first = try #require(try await waiting)
        #expect(first.position[""] > newest)

        let again = try sample.restarted()
        try await again.decide(.deny(.userDenied), try await again.onlyRequest().id)
        #expect(try await page(newest, of: again).events.map(\.name) == [.requestPresented, .requestDecided])

        let last = try await again.agent.journal.newest()
        async let nothing = next(after: last, of: again)
        try await again.clock.sleepers()
        again.clock.advance(by: 15)
        #expect(try await nothing == nil)
    }

    /// The page after an entry, waited for if nothing has happened since.
    private func next(
        after sequence: Int64, of sample: SampleAgent, about enrollment: EnrollmentID? = nil
    ) async throws -> EventPage? {
        let journal = sample.agent.journal
        let cursor = EventCursor(sequence)
        var listener = journal.listener(of: enrollment)
        return try await listener.page(after: cursor, waiting: 15) {
            try await journal.events(after: cursor)
        } reaching: {
            $0.position
        }
    }

    @Test func `a reader of one enrollment is not woken for another`() async throws {
        let (mine, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try await sample.agent.prepare()
        let newest = try await sample.agent.journal.newest()
        async let waiting = next(after: newest, of: sample, about: mine.id)
        try await sample.clock.sleepers()
        let reads = Box(0)
        sample.store.beforeReading { reads.change { $0 += 1 } }
        // Nothing of it is an event of this one, and of a command there is no event at all.
        sample.agent.hub.publish(.journaled(.presented, of: other.id))
        sample.agent.hub.publish(.journaled(.commanded, of: mine.id))
        for _ in 0..<1_000 { await Task.yield() }
        #expect(reads.value == 0)
        try await sample.receive(SampleRequest(), for: mine)
        #expect(try await waiting?.events.map(\.name) == [.requestPresented])
    }

    @Test func `a page has a bound, and the next one goes on where it ends`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled()
        for number in 1...150 { try await sample.receive(.numbered(number), for: card) }
        var position: Int64 = 0
        var seen = 0
        var pages = 0
        while true {
            let page = try await page(position, of: sample)
            guard page.position[""] > position else { break }
            #expect(page.events.count <= 200)
            (position, seen, pages) = (page.position[""], seen + page.events.count, pages + 1)
        }
        #expect(seen == 150)
        #expect(pages == 2)
    }
}
