import Testing

@testable import Journal
@testable import Records

@Suite struct EventHubTests {
    private let hub = EventHub()

    @Test(.timeLimit(.minutes(20))) func `events that are published together ring a notifier once`() async {
        let notifier = hub.notifier { _ in true }
        let (rounds, rings) = (1_000, Box(0))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in notifier { _ = rings.next() } }
            for _ in 1...rounds {
                hub.publish(Array(repeating: .journaled(.presented), count: 200))
                await Task.yield()
            }
            group.cancelAll()
        }
        #expect((1...rounds).contains(rings.value))
    }

    @Test(.timeLimit(.minutes(20))) func `who is called off while it is rung for holds nobody up`() async {
        for _ in 0..<100 {
            let notifiers = (0..<100).map { _ in hub.notifier { _ in true } }
            await withTaskGroup(of: Void.self) { group in
                for notifier in notifiers { group.addTask { for await _ in notifier {} } }
                await Task.yield()
                async let published: Void = hub.publish(.journaled(.presented))
                group.cancelAll()
                await published
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `a notifier that was made before a look into a pendingKeys has rung only once the pendingKeys has the key`()
        async throws
    {
        let pendingKeys = hub.pendingKeys { if case .pushRotated(let id) = $0 { [id] } else { [] } }
        for number in 10_000..<15_000 {
            let id = try #require(EnrollmentID("000000000000000\(number)"))
            let notifier = hub.notifier { if case .pushRotated = $0 { true } else { false } }
            async let published: Void = hub.publish(.pushRotated(id))
            var taken = pendingKeys.takeAll()
            if taken.isEmpty {
                for await _ in notifier { break }
                taken = pendingKeys.takeAll()
            }
            #expect(taken == [id])
            await published
        }
    }
}
