import Glibc
import Synchronization
import Testing

@testable import ControlServer

@Suite(.timeLimit(.minutes(20))) struct LongResponseQueueTests {
    /// What is to be waited for: a gate that opens once.
    private final class Gate: Sendable {
        private let stream = AsyncStream.makeStream(of: Never.self)

        func open() { stream.continuation.finish() }

        func wait() async { for await _ in stream.stream {} }
    }

    private final class Order: Sendable {
        private let users = Mutex<[UInt32]>([])

        var all: [UInt32] { users.withLock { $0 } }

        func append(_ uid: UInt32) { users.withLock { $0.append(uid) } }
    }

    private let responses = LongResponseQueue()
    private let order = Order()

    /// Does `body` while a piece of long work of a user is under way.
    private func during(workOf uid: UInt32, _ body: (_ end: () -> Void) async throws -> Void) async throws {
        let (begun, end) = (Gate(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [responses] in
                try await responses.withTurn(for: uid, isFavoured: false) {
                    begun.open()
                    await end.wait()
                }
            }
            await begun.wait()
            try await body { end.open() }
            end.open()
            try await group.waitForAll()
        }
    }

    /// Waits until so many calls wait or are under way; if they never do, the time limit of the suite ends it.
    private func untilThereAre(_ count: Int) async throws {
        while responses.count != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `a user has so many calls, and one more is refused at once`() async throws {
        try await during(workOf: 1) { end in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 2...LongResponseQueue.maxOfUser {
                    group.addTask { [responses] in try await responses.withTurn(for: 1, isFavoured: false) {} }
                }
                try await untilThereAre(LongResponseQueue.maxOfUser)
                await #expect(throws: TooManyCallsError.self) {
                    try await responses.withTurn(for: 1, isFavoured: false) {}
                }
                group.addTask { [responses] in try await responses.withTurn(for: 2, isFavoured: false) {} }
                try await untilThereAre(LongResponseQueue.maxOfUser + 1)
                end()
                try await group.waitForAll()
            }
        }
        #expect(responses.count == 0)
    }

    @Test func `all users have so many, and root and the agent's user more`() async throws {
        try await during(workOf: 1) { end in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for uid in 2...UInt32(LongResponseQueue.limit) {
                    group.addTask { [responses] in try await responses.withTurn(for: uid, isFavoured: false) {} }
                }
                try await untilThereAre(LongResponseQueue.limit)
                await #expect(throws: TooManyCallsError.self) {
                    try await responses.withTurn(for: 99, isFavoured: false) {}
                }
                group.addTask { [responses] in try await responses.withTurn(for: 0, isFavoured: true) {} }
                try await untilThereAre(LongResponseQueue.limit + 1)
                end()
                try await group.waitForAll()
            }
        }
    }

    @Test func `users take turns, however many calls one of them has`() async throws {
        try await during(workOf: 1) { end in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var count = 1
                for uid: UInt32 in [1, 1, 1, 2] {
                    group.addTask { [responses, order] in
                        try await responses.withTurn(for: uid, isFavoured: false) { order.append(uid) }
                    }
                    count += 1
                    try await untilThereAre(count)
                }
                end()
                try await group.waitForAll()
            }
        }
        #expect(order.all == [2, 1, 1, 1])
    }

    @Test func `who hangs up while waiting waits no longer`() async throws {
        try await during(workOf: 1) { _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [responses] in try await responses.withTurn(for: 1, isFavoured: false) {} }
                try await untilThereAre(2)
                group.cancelAll()
                do {
                    try await group.waitForAll()
                    Issue.record("its turn has not come")
                } catch is CancellationError {
                    return
                }
            }
            #expect(responses.count == 1)
        }
    }

    @Test func `long work is done on a thread of its own that is nicer than the others`() async throws {
        let niceness = try await responses.withTurn(for: 1, isFavoured: false) {
            await Task.yield()
            return getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        }
        #expect(niceness > getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
    }
}
