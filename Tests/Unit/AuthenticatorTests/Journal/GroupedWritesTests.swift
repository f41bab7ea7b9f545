import IssuerProtocol
import Keys
import StoreTables
import TestStores
import Testing
import Threads

@testable import Authenticator
@testable import Journal
@testable import Records

/// Writes that come at the same time share a database transaction.
struct GroupedWritesTests {
    private let sample: SampleAgent
    private let store: JournaledStore
    /// How many database transactions have begun.
    private let begun = Box(0)

    init() throws {
        sample = try SampleAgent()
        store = JournaledStore(
            store: sample.store, keys: sample.ports.auditKeys, clock: sample.clock, hub: EventHub())
    }

    private struct Refused: Error {}

    /// What a write does: it records something, so that it can be seen, and says how long the journal is then.
    private static func record(in writer: StoreTransaction) throws -> Int64 {
        try writer.record(.started(version: "1"), at: SampleAgent.start)
        return try writer.journalMark(.head)?.point.sequence ?? 0
    }

    private func record() async throws -> Int64 { try await store.write { try Self.record(in: $0) } }

    /// Waits until the first database transaction has begun: what is written from then on comes too late for it.
    private func untilBegun() async {
        while begun.value == 0 { await Task.yield() }
    }

    /// Holds the first database transaction up until so many writes have come after the first.
    private func holdFirst(until more: Int) {
        sample.store.beforeWriting { [begun, store] in
            guard begun.next() == 1 else { return }
            while store.writes.arrivedCount < 1 + more { await Task.yield() }
        }
    }

    private var recorded: Int {
        get async throws { try await sample.journal().filter { $0.kind == .started }.count }
    }

    @Test func `those that come while one is under way are one database transaction, and each gets its own answer`()
        async throws
    {
        holdFirst(until: 20)
        let ends = try await withThrowingTaskGroup { group in
            group.addTask { try await record() }
            await untilBegun()
            for _ in 1...20 { group.addTask { try await record() } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(begun.value == 2)
        // The first entry is about the audit key.
        #expect(ends == Set(2...22))
        #expect(try await sample.restarted().agent.journal.verify().fault == nil)
    }

    @Test func `of more than a database transaction takes the rest has the next one`() async throws {
        holdFirst(until: 150)
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await record() }
            await untilBegun()
            for _ in 1...150 { group.addTask { _ = try await record() } }
            try await group.waitForAll()
        }
        #expect(begun.value == 4)
        #expect(try await recorded == 151)
    }

    @Test func `after a commit that several shared the next one waits for those who are about to write`() async throws {
        // On one thread tasks run in the order in which they came.
        try await OwnThreads(limit: 1).perform {
            try await recordTogether(6)
            #expect(begun.value == 2)
            try await recordTogether(4)
            #expect(begun.value == 3)
            // Nobody waits for more than come.
            _ = try await record()
            #expect(begun.value == 4)
        }
    }

    private func recordTogether(_ count: Int) async throws {
        sample.store.beforeWriting { [begun] in _ = begun.next() }
        try await withThrowingTaskGroup { group in
            for _ in 1...count { group.addTask { _ = try await record() } }
            try await group.waitForAll()
        }
    }

    @Test func `one that fails leaves nothing behind, and the others are committed`() async throws {
        holdFirst(until: 6)
        await withTaskGroup { group in
            group.addTask { _ = try? await record() }
            await untilBegun()
            for index in 1...6 {
                group.addTask {
                    guard index % 2 == 1 else { return _ = try? await record() }
                    await #expect(throws: Refused.self) {
                        try await store.write { writer in
                            _ = try Self.record(in: writer)
                            throw Refused()
                        }
                    }
                }
            }
        }
        #expect(begun.value == 2)
        #expect(try await recorded == 4)
        #expect(try await sample.restarted().agent.journal.verify().fault == nil)
    }

    @Test(.ofSQLite) func `one that the database refuses fails alone`() async throws {
        let card = try await sample.enrolled()
        holdFirst(until: 3)
        await withTaskGroup { group in
            for _ in 1...3 { group.addTask { _ = try? await record() } }
            group.addTask {
                await #expect(throws: (any Error).self) {
                    try await store.write { writer in
                        _ = try Self.record(in: writer)
                        try writer.enrollment(card.id).map { try writer.insert($0) }
                    }
                }
            }
        }
        #expect(try await recorded == 3)
        #expect(try await sample.restarted().agent.journal.verify().fault == nil)
    }

    @Test func `a store that does not answer is asked once for all that wait, and not for each`() async throws {
        sample.store.beforeWriting { [begun, store] in
            guard begun.next() == 1 else { throw StoreError(.unreachable, at: "the test's store") }
            while store.writes.arrivedCount < 6 { await Task.yield() }
        }
        await withTaskGroup { group in
            group.addTask { _ = try? await record() }
            await untilBegun()
            for _ in 1...5 { group.addTask { await #expect(throws: StoreError.self) { try await record() } } }
        }
        #expect(begun.value == 2)
        #expect(try await recorded == 1)
    }

    @Test func `if the commit fails each of them is told, and nothing is there`() async throws {
        holdFirst(until: 5)
        sample.store.breakWrites()
        await withTaskGroup { group in
            for _ in 1...6 { group.addTask { await #expect(throws: StoreError.self) { try await record() } } }
        }
        #expect(try await recorded == 0)
        sample.store.breakWrites(false)
        #expect(try await record() == 2)
    }

    @Test func `who is cancelled while committing for others does not fail them`() async throws {
        let (reached, goOn) = (Channel<Void>(), Channel<Void>())
        sample.store.beforeWriting { [begun, store] in
            guard begun.next() == 2 else {
                while begun.value == 1 && store.writes.arrivedCount < 4 { await Task.yield() }
                return
            }
            reached.send(())
            try? await goOn.next()
        }
        let tasks = (1...4).map { _ in Task { try await record() } }
        try await reached.next()
        tasks.forEach { $0.cancel() }
        goOn.send(())
        for task in tasks { _ = try? await task.value }
        #expect(try await recorded == 4)
    }
}
