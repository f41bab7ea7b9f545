import Synchronization
import Testing

@testable import D1

@Suite(.timeLimit(.minutes(20)))
struct CloseTests {
    @Test func `close waits for a decision that is being made, and does not cut it off`() async {
        let core = Core(D1Task.Components())
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let order = Order()
        core.tasks.start(isShielded: true) {
            for await _ in gate { break }
            order.note(Task.isCancelled ? "cut off" : "decided")
        }
        let closing = Task {
            await core.close()
            order.note("closed")
        }
        while !core.isClosed, !Task.isCancelled { await Task.yield() }
        // Where it did not wait, it would be closed by now.
        for _ in 0..<1_000 { await Task.yield() }
        opening.yield()
        await closing.value
        #expect(order.all == ["decided", "closed"])
    }

    private final class Order: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock(\.self) }
        func note(_ what: String) { kept.withLock { $0.append(what) } }
    }
}
