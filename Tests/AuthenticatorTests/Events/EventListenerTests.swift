import Synchronization
import Testing

@testable import Authenticator

/// A reader of events waits for what comes, page after page.
@Suite struct EventListenerTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// What a reader is told after a place, and where it is then; nil: nothing within 15 seconds.
    private func next(_ listener: inout EventListener, after place: EventCursor) async throws -> EventPage? {
        let journal = sample.agent.journal
        return try await listener.page(after: place, waiting: 15) {
            try await journal.events(after: place)
        } reaching: {
            $0.position
        }
    }

    @Test func `what happens between two pages is told by the next one`() async throws {
        let card = try await sample.enrolled()
        var listener = sample.agent.journal.listener(of: nil)
        var place = try await sample.agent.journal.newestOfAll()
        for number in 1...3 {
            try await sample.receive(.numbered(number), for: card)
            let page = try #require(try await next(&listener, after: place))
            #expect(page.events.map(\.name) == [.requestPresented])
            place = page.position
        }
    }

    @Test func `who has read all that was told waits without a look at the store`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let looks = Box(0)
        sample.store.beforeReading { looks.change { $0 += 1 } }
        async let waiting = {
            var listener = sample.agent.journal.listener(of: nil)
            let first = try await next(&listener, after: .beginning)
            looks.change { $0 = 0 }
            return try await next(&listener, after: try #require(first).position)
        }()
        try await sample.clock.sleepers()
        for _ in 0..<1_000 { await Task.yield() }
        #expect(looks.value == 0)
        sample.clock.advance(by: 15)
        #expect(try await waiting == nil)
    }

    @Test func `a place of a future that the journal does not have is told as a gap at once`() async throws {
        try await sample.agent.prepare()
        var listener = sample.agent.journal.listener(of: nil)
        let future = EventCursor(try await sample.agent.journal.newest() + 1)
        let page = try #require(try await next(&listener, after: future))
        #expect(page.events.map(\.name) == [.gap])
    }

    @Test func `once it is ended it waits no longer, and not the next time either`() async throws {
        try await sample.agent.prepare()
        let start = try await sample.agent.journal.newestOfAll()
        var listener = sample.agent.journal.listener(of: nil)
        let end = listener.end
        async let ending: Void = {
            try await sample.clock.sleepers()
            end()
        }()
        for _ in 1...2 {
            await #expect(throws: CancellationError.self) { try await next(&listener, after: start) }
        }
        try await ending
    }
}
