package import Keys
package import Records
package import StoreTables
import Synchronization

/// The store, with its journal kept.
///
/// A database transaction that records something ends with a newly signed head. Once it is durable, whoever waits is told
/// of its entries, all together. Writes that come at the same time share one, and its signature.
///
/// Before anything is written, what the database has is held against what this agent last committed; at its first write,
/// against the audit key's signatures. A journal that something else has changed takes no more entries, so nothing more
/// is decided.
package struct JournaledStore: Store {
    /// How many of the newest entries are read before the first write.
    private static let atStart: Int64 = 1_000

    let store: any Store
    let keys: any AuditKeys
    let clock: any AgentClock
    let hub: EventHub
    private let signer = Kept<any JournalSigner>()
    let writes = GroupedWrites()
    /// As of the newest commit; nil before the first.
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

    /// Commits writes together, with one head and one signature for all, and answers each of them.
    ///
    /// One that fails leaves nothing behind, and the others are committed.
    ///
    /// - Returns: those that are not answered yet, as each has to be by itself. One that needs a row that another host
    ///   holds is: as part of a group it would wait for the row with others' rows held, and two hosts for each other.
    private func commit(_ group: [GroupedWrite]) async -> [GroupedWrite] {
        let held = Kept<[GroupedWrite]>()
        do {
            try await store.write { [hub] writer in
                let signer = try heldJournal(in: writer)
                held.value = try Self.run(group, in: writer)
                try signer.signHead(of: writer)
                let marks = try JournalMarks(writer)
                let events = writer.newEntries.flatMap(AgentEvent.all)
                // Not before the commit, and before the next database transaction: one that fails moves nothing. No
                // listener is told before the commit, which may be known late, and no caller is told before the listeners.
                writer.afterCommit {
                    self.marks.value = marks
                    hub.publish(events)
                }
            }
        } catch {
            // It shows which of them the store cannot take once each is by itself. A store that does not answer is not
            // asked for each: they would wait for one another, up to a deadline each.
            let mayBeOfOne = (error as? StoreError)?.mayBeOfOneWrite ?? true
            if group.count > 1, held.value == nil, mayBeOfOne { return group }
            for write in group { write.fail(error) }
            return []
        }
        return held.value ?? []
    }

    /// - Returns: those that need a row that another host holds.
    private static func run(
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

    /// The newest entry as of this agent's last commit; nil before the first.
    package var head: JournalPoint? { headMark?.point }

    /// The same with the audit key's signature.
    package var headMark: JournalMark? { marks.value?.head }

    /// The chains of the other hosts.
    package var hosts: JournalHosts { JournalHosts(keys: keys) }

    /// The audit key's public half; nil before the first write.
    package func publicKey() async throws -> PublicKey? {
        if let signer = signer.value { return signer.publicKey }
        return try await store.read { try openSigner(in: $0)?.publicKey }
    }

    /// Whether the audit key has signed a mark.
    func isSigned(_ mark: JournalMark, as name: JournalMark.Name) async throws -> Bool {
        guard let key = try await publicKey() else { return false }
        return try mark.isSigned(by: key, as: name)
    }

    /// A mark, signed, that is about to be written.
    package func mark(_ name: JournalMark.Name, at point: JournalPoint, in store: StoreReading) throws -> JournalMark {
        JournalMark(point: point, signature: try openSigner(in: store)?.signature(for: JournalStatement(name, point)))
    }

    /// The audit key's word that the journal has these entries, which were held against its head before.
    func seal(_ entries: [JournalPoint], head: JournalPoint) async throws -> JournalExtract.Seal? {
        let statement = JournalStatement(extract: entries, head: head)
        return try await store.read { try openSigner(in: $0) }.map { signer in
            JournalExtract.Seal(statement: statement.bytes, signature: try signer.signature(for: statement))
        }
    }

    /// A checkpoint at a point that the signed head is behind; nil if the key is gone.
    ///
    /// - Parameter earlier: what the checkpoint before it leads to.
    func checkpoint(at point: JournalPoint, earlier: [JournalPoint]) async throws -> JournalCheckpoint? {
        let statement = JournalStatement(checkpoint: point, earlier: earlier)
        return try await store.read { try openSigner(in: $0) }.map { signer in
            JournalCheckpoint(point: point, earlier: earlier, signature: try signer.signature(for: statement))
        }
    }

    /// The key that signs what is about to be written, if the journal is the one that was committed last.
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

    /// The key that the store has; opened once.
    private func openSigner(in store: StoreReading) throws -> (any JournalSigner)? {
        if let signer = signer.value { return signer }
        guard let sealed = try store.sealedAuditKey() else { return nil }
        let opened = try keys.open(sealed)
        signer.value = opened
        return opened
    }

    /// Makes the key in the database transaction of the first entry, so that neither is ever there without the other.
    ///
    /// It is not kept in memory: the transaction may still fail.
    private func makeSigner(in store: StoreTransaction) throws -> any JournalSigner {
        let sealed = try keys.make()
        let made = try keys.open(sealed)
        try store.insert(sealedAuditKey: sealed)
        try store.record(.auditKeyMade(made.publicKey, of: store.journalHost), at: clock.now)
        // Whose store it has come to: so nothing of another store passes for a chain of this one.
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

/// A value that is known from some time on.
package final class Kept<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
