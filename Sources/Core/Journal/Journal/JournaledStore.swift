package import Keys
package import Records
package import StoreTables
import Synchronization

/// A store that keeps the journal.
///
/// A database transaction that records an entry ends with a newly signed head. Once the transaction is durable, all its
/// entries are published together. Concurrent writes share one transaction and one signature.
///
/// Before a write, the marks in the database are compared with the last commit of this agent. Before the agent's first
/// write, they are verified against the audit key's signatures. If another program has changed the journal, no more
/// entries are added, so no more decisions are made.
package struct JournaledStore: Store {
    /// The number of the newest entries that are verified before the first write.
    private static let atStart: Int64 = 1_000

    let store: any Store
    let keys: any AuditKeys
    let clock: any AgentClock
    let hub: EventHub
    private let signer = Kept<any JournalSigner>()
    let writes = GroupedWrites()
    /// The marks as of the newest commit, or `nil` before the first.
    private let marks = Kept<JournalMarks>()

    package init(store: any Store, keys: any AuditKeys, clock: any AgentClock, hub: EventHub) {
        self.store = store
        self.keys = keys
        self.clock = clock
        self.hub = hub
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await store.read(body)
    }

    package func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await store.survey(body)
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await conclude(body)
    }

    package func conclude<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await writes.value(of: body) { await commit($0) }
    }

    /// Commits writes together, with one signed head for all, and answers each of them.
    ///
    /// A write that fails leaves no change, and the others are committed.
    ///
    /// - Returns: the writes that are not answered yet, because each must run alone. A write must run alone if it needs
    ///   a row that another host has locked. In a group, it would wait for that row while the rows of the group stay
    ///   locked, and two hosts could wait for each other.
    private func commit(_ group: [GroupedWrite]) async -> [GroupedWrite] {
        let held = Kept<[GroupedWrite]>()
        do {
            try await store.write { [hub] writer in
                let signer = try heldJournal(in: writer)
                held.value = try Self.perform(group, in: writer)
                try signer.signHead(of: writer)
                let marks = try JournalMarks(writer)
                let events = writer.newEntries.flatMap(AgentEvent.all)
                // After the commit, so that a failed transaction moves no marks, and before the next transaction. The
                // result of the commit may be known late. Listeners are notified only after the commit, and callers
                // only after the listeners.
                writer.afterCommit {
                    self.marks.value = marks
                    hub.publish(events)
                }
            }
        } catch {
            // If each write runs alone, the write that the store rejects fails alone. If the store does not answer, the
            // writes are not repeated: they would wait one after another, each up to a deadline.
            let mayBeOfOne = (error as? StoreError)?.mayBeOfOneWrite ?? true
            if group.count > 1, held.value == nil, mayBeOfOne { return group }
            for write in group { write.fail(error) }
            return []
        }
        return held.value ?? []
    }

    /// - Returns: the writes that need a row that another host has locked.
    private static func perform(
        _ group: [GroupedWrite], in store: StoreTransaction
    ) throws -> [GroupedWrite] {
        guard group.count > 1 else {
            try group.forEach { try $0.run(store) }
            return []
        }
        return try group.filter { write in
            guard let failure = try store.undoing({ try write.run(store) }) else { return false }
            if failure is RowHeldError { return true }
            write.fail(failure)
            return false
        }
    }

    package func scrub() async throws { try await store.scrub() }

    package func emptyLog() async throws -> Bool { try await store.emptyLog() }

    package func giveUpReserve() async -> Bool { await store.giveUpReserve() }

    package func keepReserve() async throws { try await store.keepReserve() }

    /// The newest entry as of this agent's last commit, or `nil` before the first.
    package var head: JournalPoint? { headMark?.point }

    /// The newest entry, with the audit key's signature.
    package var headMark: JournalMark? { marks.value?.head }

    /// The chains of the other hosts.
    package var hosts: JournalHosts { JournalHosts(keys: keys) }

    /// Returns the audit key's public half, or `nil` before the first write.
    package func publicKey() async throws -> PublicKey? {
        if let signer = signer.value { return signer.publicKey }
        return try await store.read { try openSigner(in: $0)?.publicKey }
    }

    /// Returns whether the audit key has signed a mark.
    func isSigned(_ mark: JournalMark, as name: JournalMark.Name) async throws -> Bool {
        guard let key = try await publicKey() else { return false }
        return try mark.isSigned(by: key, as: name)
    }

    /// Signs a mark that is about to be written.
    package func mark(_ name: JournalMark.Name, at point: JournalPoint, in store: StoreReading) throws -> JournalMark {
        JournalMark(point: point, signature: try openSigner(in: store)?.signature(for: JournalStatement(name, point)))
    }

    /// Signs the statement that the journal has these entries; the caller has verified them against its head.
    func seal(_ entries: [JournalPoint], head: JournalPoint) async throws -> JournalExtract.Seal? {
        let statement = JournalStatement(extract: entries, head: head)
        return try await store.read { try openSigner(in: $0) }.map { signer in
            JournalExtract.Seal(statement: statement.bytes, signature: try signer.signature(for: statement))
        }
    }

    /// Signs a checkpoint at a point before the signed head, or returns `nil` if the key is missing.
    ///
    /// - Parameter earlier: the points that the checkpoint before it leads to.
    func checkpoint(at point: JournalPoint, earlier: [JournalPoint]) async throws -> JournalCheckpoint? {
        let statement = JournalStatement(checkpoint: point, earlier: earlier)
        return try await store.read { try openSigner(in: $0) }.map { signer in
            JournalCheckpoint(point: point, earlier: earlier, signature: try signer.signature(for: statement))
        }
    }

    /// Returns the key that signs the next head, if the journal is the last committed one.
    ///
    /// - Throws: ``ForgedJournalError``.
    private func heldJournal(in store: StoreTransaction) throws -> any JournalSigner {
        let found = try JournalMarks(store)
        guard let signer = try openSigner(in: store) else {
            guard try found.isNothing && store.journal(after: 0, limit: 1).isEmpty else {
                throw ForgedJournalError("its audit key is gone")
            }
            try NewestChains(store, hosts).expectNoneKnowsMore(than: .beginning, of: store)
            return try makeSigner(in: store)
        }
        if let marks = marks.value {
            try found.expect(marks)
            try found.expectNewestEntry(of: store)
        } else {
            try found.expectSigned(by: signer.publicKey)
            try found.expectNewestEntry(of: store)
            try found.expectNewestEntries(Self.atStart, of: store)
            if let head = found.head?.point {
                try NewestChains(store, hosts).expectNoneKnowsMore(than: head, of: store)
            }
            try store.settleTries(at: clock.now)
        }
        return signer
    }

    /// Opens the audit key of the store, once, or returns `nil` if there is none.
    private func openSigner(in store: StoreReading) throws -> (any JournalSigner)? {
        if let signer = signer.value { return signer }
        guard let sealed = try store.sealedAuditKey() else { return nil }
        let opened = try keys.open(sealed)
        signer.value = opened
        return opened
    }

    /// Makes the audit key in the transaction of the first entry, so that neither exists without the other.
    ///
    /// The key is not kept in memory, because the transaction may still fail.
    private func makeSigner(in store: StoreTransaction) throws -> any JournalSigner {
        let sealed = try keys.make()
        let made = try keys.open(sealed)
        try store.insert(sealedAuditKey: sealed)
        try store.record(.auditKeyMade(made.publicKey, of: store.journalHost), at: clock.now)
        // Records the hosts of this store, so that no part of another store can pass for a chain of this one.
        let others = try hosts.seen(in: store, besides: made.publicKey).seen
        for fact in JournalFact.hostsSeen(others) { try store.record(fact, at: clock.now) }
        return made
    }
}

extension JournalSigner {
    /// Signs the head if it has moved.
    func signHead(of store: StoreTransaction) throws {
        guard let head = try store.journalMark(.head), head.signature == nil else { return }
        let signature = try signature(for: JournalStatement(.head, head.point))
        try store.set(JournalMark(point: head.point, signature: signature), as: .head)
    }
}

/// A value that is `nil` until it is known.
package final class Kept<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
