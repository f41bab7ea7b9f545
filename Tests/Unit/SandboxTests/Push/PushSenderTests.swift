import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// The sender as it runs in the server.
@Suite(.timeLimit(.minutes(20)))
struct PushSenderTests {
    /// Runs a sender beside `body`, and stops it.
    private func sending(_ issuer: TestIssuer, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await PushSender(backend: issuer.backend, limits: .patient).run() }
            try await body()
            group.cancelAll()
        }
    }

    @Test func `a purchase is answered and pushed, the next as well`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer(waitsEnd: false)
            _ = try await issuer.subscribed(at: receiver)
            try await sending(issuer) {
                var arrivals = receiver.arrivals.makeAsyncIterator()
                for count in 1...3 {
                    _ = try await issuer.purchase()
                    await arrivals.next()
                    #expect(receiver.count == count)
                }
            }
        }
    }

    @Test func `a push is tried again as soon as a test's clock is there`() async throws {
        try await LocalPushReceiver.run(statuses: [500, 503, 201]) { receiver in
            let issuer = try TestIssuer(waitsEnd: false, hasTestClock: true)
            _ = try await issuer.subscribed(at: receiver)
            try await sending(issuer) {
                var arrivals = receiver.arrivals.makeAsyncIterator()
                let purchase = try await issuer.purchase()
                for expected in ["waiting 1 500", "waiting 2 503", "delivered 3 201"] {
                    await arrivals.next()
                    while try await issuer.timeline(purchase).request.pushOutcomes != [expected] { await Task.yield() }
                    _ = await issuer.post("/sandbox/clock", ["advanceSeconds": 2])
                }
            }
        }
    }

    @Test func `a receiver that does not answer holds up its own pushes and no others, nor any purchase`() async throws
    {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        try await LocalPushReceiver.run([.init(gate: gate)]) { slow in
            try await LocalPushReceiver.run { other in
                let issuer = try TestIssuer(waitsEnd: false)
                let first = try await issuer.subscribed(at: slow)
                let second = try await issuer.subscribed(at: other)
                try await sending(issuer) {
                    var slowly = slow.arrivals.makeAsyncIterator()
                    var quickly = other.arrivals.makeAsyncIterator()
                    for _ in 0..<3 { _ = try await issuer.purchase(["authenticatorId": .string(first.id)]) }
                    await slowly.next()
                    for _ in 0..<3 {
                        _ = try await issuer.purchase(["authenticatorId": .string(second.id)])
                        await quickly.next()
                    }
                    #expect(slow.count == 1 && other.count == 3)
                    opener.finish()
                    for _ in 0..<2 { await slowly.next() }
                    #expect(slow.count == 3)
                }
            }
        }
    }

    @Test func `what was under way when it stopped is sent again by the next`() async throws {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        try await LocalPushReceiver.run([.init(gate: gate)]) { receiver in
            let issuer = try TestIssuer(waitsEnd: false)
            _ = try await issuer.subscribed(at: receiver)
            var arrivals = receiver.arrivals.makeAsyncIterator()
            let purchase = try await issuer.purchase()
            try await sending(issuer) { await arrivals.next() }
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["sending 1"])
            opener.finish()
            try await sending(issuer) { await arrivals.next() }
            #expect(receiver.count == 2)
        }
    }

    @Test func `twenty thousand wait at most, and the timeline says which do not`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            for _ in 0..<20 { _ = try await issuer.purchase(["repeat": 1_000, "push": "only"]) }
            let purchase = try await issuer.purchase()
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["failed 0 queueFull"])
        }
    }

    @Test func `what is over is kept among the newest ten thousand, and what waits as long as it does`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let over = try await issuer.purchase()
            try await issuer.push()
            let waiting = try await issuer.purchase()
            for _ in 0..<9 { _ = try await issuer.purchase(["repeat": 1_000, "push": "only"]) }
            _ = try await issuer.purchase(["repeat": 998, "push": "only"])
            #expect(try await issuer.timeline(over).request.pushOutcomes == ["delivered 1 201"])
            for _ in 0..<2 { _ = try await issuer.purchase() }
            #expect(try await issuer.timeline(over).request.pushOutcomes.isEmpty)
            #expect(try await issuer.timeline(waiting).request.pushOutcomes == ["waiting 0"])
        }
    }
}
