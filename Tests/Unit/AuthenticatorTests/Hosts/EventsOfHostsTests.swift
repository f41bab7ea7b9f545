#if PostgreSQL
import IssuerProtocol
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever reads events at one host is told what all hosts do, and misses none of it.
@Suite(.timeLimit(.minutes(20)))
struct EventsOfHostsTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() throws {
        (alpha, beta) = try StoreKind.$current.withValue(.postgres) {
            let alpha = try SampleAgent(AgentSettings(eventsKept: 100, version: "1.2.3"))
            return (alpha, try alpha.neighbour("beta", shares: SetShare(isOurs: false)))
        }
    }

    private func page(
        _ cursor: EventCursor, of host: SampleAgent? = nil, limit: Int = 256
    ) async throws -> EventPage {
        try await (host ?? alpha).agent.journal.events(after: cursor, limit: limit)
    }

    /// All that is told after a place, by pages.
    private func all(after cursor: EventCursor, at host: SampleAgent, limit: Int) async throws -> [JournalEvent] {
        var (events, place) = ([JournalEvent](), cursor)
        while true {
            let page = try await page(place, of: host, limit: limit)
            guard page.position != place else { return events }
            events += page.events
            place = page.position
        }
    }

    private func cursor(_ text: String) throws -> EventCursor { try #require(EventCursor(text)) }

    /// Requests that alpha presents; beta decides each other one.
    private func decideSome(of count: Int) async throws {
        let card = try await alpha.enrolled()
        for number in 1...count { try await alpha.receive(.numbered(number), for: card) }
        for (number, request) in try await alpha.requests().enumerated() where number.isMultiple(of: 2) {
            try await beta.decide(.deny(.userDenied), request.id)
        }
    }

    /// The numbers that were told, by host, in their order.
    private func places(_ events: [JournalEvent]) -> [String: [Int64]] {
        Dictionary(grouping: events, by: \.host).mapValues { $0.map(\.sequence) }
    }

    @Test func `what one host presents and another decides is told by both, with its host`() async throws {
        try await decideSome(of: 1)
        for host in [alpha, beta] {
            let page = try await page(.beginning, of: host)
            let told = Set(page.events.map { "\($0.host) \($0.name)" })
            #expect(told == ["alpha requestPresented", "beta requestDecided"])
            #expect(try await page.position == host.agent.journal.newestOfAll())
            let heads = try await (alpha.agent.journal.newest(), beta.agent.journal.newest())
            #expect(page.position.text == "alpha:\(heads.0),beta:\(heads.1)")
            #expect(try await self.page(page.position, of: host).events.isEmpty)
        }
    }

    @Test func `whoever goes on from any event, at any host, is told the rest once`() async throws {
        try await decideSome(of: 12)
        let everything = try await all(after: .beginning, at: alpha, limit: 5)
        #expect(everything.count == 18)
        for (host, numbers) in places(everything) {
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "\(host)")
        }
        for (index, event) in everything.enumerated() {
            let kept = try cursor(event.cursor.text)
            for host in [alpha, beta] {
                let rest = places(Array(everything.dropFirst(index + 1)))
                #expect(try await places(all(after: kept, at: host, limit: 3)) == rest)
            }
        }
    }

    @Test func `many events of one host do not hold up those of another`() async throws {
        let card = try await alpha.enrolled()
        for number in 1...20 { try await alpha.receive(.numbered(number), for: card) }
        try await beta.decide(.deny(.userDenied), try #require(try await alpha.requests().first?.id))
        for host in [alpha, beta] {
            let page = try await page(.beginning, of: host, limit: 8)
            #expect(Set(page.events.map(\.host)) == ["alpha", "beta"] && page.events.count <= 8)
        }
    }

    @Test func `a host that is new is read from its beginning`() async throws {
        try await alpha.agent.prepare()
        let before = try await alpha.agent.journal.newestOfAll()
        #expect(try await before == EventCursor(alpha.agent.journal.newest()))
        try await decideSome(of: 1)
        let page = try await page(before)
        #expect(Set(page.events.map(\.name)) == [.requestPresented, .requestDecided])
        #expect(try await page.position == alpha.agent.journal.newestOfAll())
    }

    @Test func `a gap is told of the chain whose events are no longer kept, and of no other`() async throws {
        try await decideSome(of: 1)
        let start = try await alpha.agent.journal.newestOfAll()
        for _ in 0..<120 { try await beta.agent.conclude() }
        let page = try await page(start)
        #expect(page.events.map(\.name) == [.gap] && page.events.map(\.host) == ["beta"])
        #expect(try await page.events.first?.sequence == beta.agent.journal.newest() - 100)
        #expect(page.position["alpha"] == start["alpha"])
        #expect(try await self.page(page.position).events.isEmpty)
    }

    @Test func `a place or a host that is not there is told as a gap, once`() async throws {
        try await decideSome(of: 1)
        let newest = try await alpha.agent.journal.newestOfAll()
        let page = try await page(cursor("alpha:\(newest["alpha"]),beta:\(newest["beta"] + 1),gamma:7"))
        #expect(page.events.map(\.name) == [.gap, .gap])
        #expect(page.events.map(\.host) == ["gamma", "beta"])
        #expect(page.events.map(\.sequence) == [0, newest["beta"]])
        #expect(page.position == newest)
    }

    @Test func `a number alone is a place in the only chain that has come so far`() async throws {
        let card = try await alpha.enrolled()
        for number in 1...20 { try await alpha.receive(.numbered(number), for: card) }
        let newest = try await alpha.agent.journal.newest()
        try await beta.agent.prepare()
        for (name, host) in [("alpha", alpha), ("beta", beta)] {
            let journal = host.agent.journal
            #expect(try await journal.place(EventCursor(newest)).text == "alpha:\(newest)")
            #expect(try await journal.place(.beginning) == .beginning)
            for unclear in [1, newest + 1] {
                let failure = await #expect(throws: CommandError.self) { try await journal.place(EventCursor(unclear)) }
                #expect(failure?.code == .invalidArgument)
                #expect(failure?.message.contains("\(name):\(unclear)") == true)
            }
        }
    }

    @Test func `a reader is rung for what another host decides, whoever's share it is`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        try await beta.agent.prepare()
        let journal = beta.agent.journal
        let start = try await journal.newestOfAll()
        try await beta.running([beta.agent.neighbours.run]) {
            while try await beta.clock.naps.next() != Neighbours.pause {}
            let known = try #require(journal.newestTold)
            #expect(start.reaches(known))
            let notifier = journal.notifier { true }
            try await beta.clock.sleepers()
            try await alpha.decide(.deny(.userDenied), try await alpha.onlyRequest().id)
            beta.clock.advance(by: Neighbours.pause)
            for await _ in notifier { break }
            let page = try await journal.events(after: start)
            #expect(page.events.map(\.name) == [.requestDecided])
            // Before it was rung, so that nobody takes an older look for all that there is.
            #expect(try #require(journal.newestTold).reaches(page.position))
        }
    }

    @Test func `however many hosts have chains, a cursor that names them can be given back`() async throws {
        try await decideSome(of: 1)
        try StoreKind.$current.withValue(.postgres) {
            let names = "SELECT lpad(n::text, 63, 'h') AS name FROM generate_series(1, 300) AS n"
            try alpha.tamper(
                """
                INSERT INTO host (name, identity, incarnation, alive_until)
                SELECT name, x'00', 1, now() FROM (\(names)) AS h
                """)
            try alpha.tamper(
                """
                INSERT INTO journal_mark (host, name, seq, digest)
                SELECT name, 'head', \(Int64.max), x'00' FROM (\(names)) AS h
                """)
        }
        let newest = try await alpha.agent.journal.newestOfAll()
        #expect(newest.text.utf8.count > 7_900)
        #expect(try cursor(newest.text) == newest)
        #expect(try await page(newest).position == newest)
    }
}
#endif
