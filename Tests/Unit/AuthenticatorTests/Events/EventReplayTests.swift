import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever reads events misses none, whenever they come back.
@Suite(.timeLimit(.minutes(20)))
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
        #expect(events.map(\.sequence) == [2, 3, 4])
        let id = try await sample.onlyRequest().id
        #expect(events.allSatisfy { $0.request == id && $0.enrollment == card.id })
        #expect(try await page(2).events.map(\.name) == [.requestDecided, .requestDelivered])
        #expect(try await page(4).events.isEmpty)
        #expect(try await page(0).position == EventCursor(4))
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

    @Test func `entries that were removed for their age are a gap, however few have come since`() async throws {
        let sample = try SampleAgent(AgentSettings(retention: 86_400 * 2, auditRetention: 86_400 * 2, version: "1.2.3"))
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let newest = try await sample.agent.journal.newest()
        sample.clock.advance(by: 86_400 * 3)
        while try await sample.agent.journalPruner.step() {}
        let floor = try #require(try await sample.agent.journal.verify().floor?.point.sequence)
        #expect(floor > 1 && floor <= newest)
        #expect(try await page(1, of: sample).events.first?.name == .gap)
        #expect(try await page(floor, of: sample).events.first?.name != .gap)
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

    @Test func `who waits is rung for what happens, and told after a restart what happened meanwhile`() async throws {
        let card = try await sample.enrolled()
        try await sample.agent.prepare()
        let newest = try await sample.agent.journal.newest()
        let notifier = sample.agent.journal.notifier { true }
        try await sample.receive(SampleRequest(), for: card)
        for await _ in notifier { break }
        #expect(try await page(newest).position[""] > newest)

        let again = try sample.restarted()
        try await again.decide(.deny(.userDenied), try await again.onlyRequest().id)
        #expect(try await page(newest, of: again).events.map(\.name) == [.requestPresented, .requestDecided])
    }

    @Test func `it rings for events alone, and only while somebody wants to hear of them`() async throws {
        let card = try await sample.enrolled()
        let isHeard = Box(true)
        let notifier = sample.agent.journal.notifier { isHeard.value }
        // Of a command there is no event.
        sample.agent.hub.publish(.journaled(.commanded, of: card.id))
        isHeard.change { $0 = false }
        sample.agent.hub.publish(.journaled(.presented, of: card.id))
        isHeard.change { $0 = true }
        let rings = Box(0)
        let counting = Task {
            for await _ in notifier { rings.change { $0 += 1 } }
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(rings.value == 0)
        sample.agent.hub.publish(.journaled(.presented, of: card.id))
        while rings.value == 0 { await Task.yield() }
        notifier.wake()
        while rings.value == 1 { await Task.yield() }
        counting.cancel()
    }

    @Test func `a page has a bound, and the next one goes on where it ends`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled()
        for number in 1...300 { try await sample.receive(.numbered(number), for: card) }
        var position: Int64 = 0
        var seen = 0
        var pages = 0
        while true {
            let page = try await page(position, of: sample)
            guard page.position[""] > position else { break }
            #expect(page.events.count <= 256)
            (position, seen, pages) = (page.position[""], seen + page.events.count, pages + 1)
        }
        #expect(seen == 300)
        #expect(pages == 2)
    }
}
