import FairSharing
import Synchronization
import Testing

struct FairQueueTests {
    private final class Shared<Value: Sendable>: Sendable {
        private let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
        func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
    }

    /// Whose turn came, in order.
    private final class Turns: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock(\.self) }
        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test
    func `keys take turns, and each key's own wait in order`() throws {
        let queue = FairQueue<String>(.init(capacity: 1))
        let turns = Turns()
        var tickets = try ["a1", "a2", "a3", "b1", "b2", "c1"].map { name in
            try queue.enter(String(name.prefix(1))) { turns.note(name) }
        }
        #expect(turns.all == ["a1"])
        // The one whose turn came last gives its unit back, until all had theirs.
        for order in [0, 3, 5, 1, 4] { tickets[order].leave() }
        #expect(turns.all == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.usage == (1, 1))
        tickets = []
        #expect(queue.usage == (0, 0))
    }

    @Test
    func `a key that holds as much as it may lets others pass`() throws {
        let queue = FairQueue<String>(.init(capacity: 10, capacityOfKey: 4))
        let turns = Turns()
        let first = try queue.enter("a", units: 3) { turns.note("a1") }
        let second = try queue.enter("a", units: 3) { turns.note("a2") }
        let other = try queue.enter("b", units: 4) { turns.note("b") }
        #expect(turns.all == ["a1", "b"])
        first.leave()
        #expect(turns.all == ["a1", "b", "a2"])
        #expect(queue.usage(of: "a") == (3, 1))
        withExtendedLifetime((second, other)) {}
    }

    @Test
    func `small pieces do not overtake a large one for ever`() throws {
        let queue = FairQueue<String>(.init(capacity: 4))
        let turns = Turns()
        let held = try queue.enter("a", units: 2) { turns.note("a1") }
        let large = try queue.enter("b", units: 4) { turns.note("b") }
        let small = try queue.enter("c", units: 1) { turns.note("c") }
        #expect(turns.all == ["a1"])
        held.leave()
        #expect(turns.all == ["a1", "b"])
        large.leave()
        #expect(turns.all == ["a1", "b", "c"])
        withExtendedLifetime(small) {}
    }

    @Test
    func `whoever leaves while it waits makes room for those behind it`() throws {
        let queue = FairQueue<String>(.init(capacity: 4))
        let turns = Turns()
        let held = try queue.enter("a", units: 2) {}
        let large = try queue.enter("b", units: 4) { turns.note("b") }
        let small = try queue.enter("c", units: 1) { turns.note("c") }
        large.leave()
        large.leave()
        #expect(turns.all == ["c"])
        #expect(queue.usage == (3, 2))
        withExtendedLifetime((held, small)) {}
    }

    @Test
    func `more units than a key may hold count as that`() throws {
        let queue = FairQueue<String>(.init(capacity: 10, capacityOfKey: 4))
        #expect(try queue.enter("a", units: .max) {}.units == 4)
        #expect(try queue.enter("a", units: -1) {}.units == 1)
    }

    @Test
    func `there are no more tickets than allowed, of a key and in all`() throws {
        let queue = FairQueue<String>(.init(capacity: 1, tickets: 3, ticketsOfKey: 2))
        var tickets = [try queue.enter("a") {}, try queue.enter("a") {}]
        #expect(throws: FairQueue<String>.FullError.ofKey) { try queue.enter("a", isFavoured: true) {} }
        tickets.append(try queue.enter("b") {})
        #expect(throws: FairQueue<String>.FullError.ofAll) { try queue.enter("c") {} }
        tickets.append(try queue.enter("c", isFavoured: true) {})
        #expect(queue.usage == (1, 4))
        tickets.removeFirst()
        tickets.removeLast()
        #expect(try queue.enter("a") {}.units == 1)
    }

    @Test
    func `a caller that is cancelled leaves the queue, and its turn goes to the next`() async throws {
        let queue = FairQueue<String>(.init(capacity: 1))
        let held = try queue.enter("a") {}
        let waiting = Task { try await queue.inTurn("b") { "its turn came" } }
        while queue.usage.tickets < 2 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(queue.usage == (1, 1))
        let next = Task { try await queue.inTurn("b") { "its turn came" } }
        while queue.usage.tickets < 2 { await Task.yield() }
        held.leave()
        #expect(try await next.value == "its turn came")
        #expect(queue.usage == (0, 0))
    }

    @Test(.timeLimit(.minutes(20)))
    func `nothing is lost or held twice when many come, wait and are cancelled`() async throws {
        let queue = FairQueue<Int>(.init(capacity: 7, capacityOfKey: 3))
        let held = Shared((now: 0, most: 0))
        let tasks = (0..<1_000).map { number in
            Task {
                try? await queue.inTurn(number % 5, units: 1 + number % 4) {
                    let units = min(1 + number % 4, 3)
                    held.withLock { $0 = ($0.now + units, max($0.most, $0.now + units)) }
                    await Task.yield()
                    held.withLock { $0.now -= units }
                }
            }
        }
        for (number, task) in tasks.enumerated() {
            if number % 3 == 0 { task.cancel() }
            await task.value
        }
        #expect(queue.usage == (0, 0))
        #expect(held.withLock(\.now) == 0)
        #expect((1...7).contains(held.withLock(\.most)))
    }
}
