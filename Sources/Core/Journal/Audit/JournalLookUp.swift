import Keys
import Records
import StoreTables

/// Finds the entries about one request, and proves that they are in the signed journal.
///
/// The entries after the newest checkpoint are verified up to the head. From that checkpoint, older checkpoints lead to
/// the entries about the request, and these entries are verified up to their checkpoint. So the cost does not depend on
/// the length of the journal. With 20,000 requests, evidence takes 8 ms, and verifying all entries, as `audit verify`
/// does, takes 0.4 s (`make bench ONLY=clients`).
///
/// A look-up finds the entries or fails. ``JournalAudit`` reports what is wrong with a journal.
struct JournalLookUp: Sendable {
    /// Maximum number of entries after the newest checkpoint.
    ///
    /// If there are more, the ``Checkpointer`` has not run yet.
    private static let maxNewest: Int64 = 4_096

    let store: JournaledStore
    let request: RequestID

    struct Found: Sendable {
        let head: JournalMark
        /// The entries about the request, oldest first; at most ``JournalExtract/maxEntries``.
        let rows: [JournalRow]
    }

    private struct Ends: Sendable {
        let head: JournalMark
        let floor: Int64
        let newest: JournalCheckpoint
        /// The entries after the newest checkpoint.
        let rows: [JournalRow]
        /// The checkpoints of the other entries, newest first.
        let checkpoints: [Int64]
        let record: RequestRecord
    }

    /// Returns `nil` if the proof fails, or if an entry is missing that the request's state requires.
    func find() async throws -> Found? {
        // Before the database is read: a commit in between can only add entries.
        let committed = store.head
        guard let key = try await store.publicKey(), let ends = try await store.read({ try ends(in: $0) }),
            committed.map({ $0.sequence <= ends.head.point.sequence }) != false,
            try ends.head.isSigned(by: key, as: .head), try ends.newest.isSigned(by: key),
            try Self.leads(from: ends.newest.point, to: ends.head.point, ends.rows)
        else { return nil }
        var (rows, checkpoint) = (ends.rows.filter { $0.request == request }, ends.newest)
        for last in ends.checkpoints {
            // The entries up to the floor were removed because of their age, before this look-up or during it.
            guard last > ends.floor else { break }
            let reached = checkpoint
            let step = try await store.read { try Self.step(last, from: reached, signedBy: key, in: $0) }
            guard let step else { return nil }
            checkpoint = step.checkpoint
            rows.insert(contentsOf: step.rows.filter { $0.request == request }, at: 0)
        }
        rows = Array(rows.prefix(JournalExtract.maxEntries))
        return Self.tell(rows, of: ends.record, isWhole: ends.floor == 0) ? Found(head: ends.head, rows: rows) : nil
    }

    private func ends(in store: StoreReading) throws -> Ends? {
        guard let head = try store.journalMark(.head), let newest = try store.newestCheckpoint(),
            (0...Self.maxNewest).contains(head.point.sequence - newest.point.sequence),
            let record = try store.request(request), let enrollment = try store.enrollment(record.enrollmentId),
            enrollment.isDamaged || enrollment.journalHost != store.journalHost
                || enrollment.journalSequence <= head.point.sequence
        else { return nil }
        return Ends(
            head: head, floor: try store.journalMark(.floor)?.point.sequence ?? 0, newest: newest,
            // The limit is one higher, so that an entry inserted behind the head is noticed.
            rows: try store.journal(after: newest.point.sequence, limit: Int(Self.maxNewest) + 1),
            checkpoints: try store.checkpoints(of: request).reversed(), record: record)
    }

    private static func leads(from first: JournalPoint, to last: JournalPoint, _ rows: [JournalRow]) throws -> Bool {
        var chain = JournalChain(after: first)
        for row in rows {
            guard try chain.follow(row) else { return false }
        }
        return chain.last == last
    }

    /// Goes back from one checkpoint to an older one, and returns that one with its entries.
    private static func step(
        _ last: Int64, from start: JournalCheckpoint, signedBy key: PublicKey, in store: StoreReading
    ) throws -> (checkpoint: JournalCheckpoint, rows: [JournalRow])? {
        var checkpoint = start
        while checkpoint.point.sequence > last {
            guard let point = checkpoint.earliest(from: last), let next = try store.checkpoint(at: point.sequence),
                next.point == point, try next.isSigned(by: key)
            else { return nil }
            checkpoint = next
        }
        guard checkpoint.point.sequence == last else { return nil }
        let rows = try store.journal(after: checkpoint.entries.lowerBound - 1, limit: Int(JournalCheckpoint.length))
        guard let first = rows.first, var chain = JournalChain(before: first) else { return nil }
        for row in rows {
            guard try chain.follow(row) else { return nil }
        }
        return chain.last == checkpoint.point ? (checkpoint, rows) : nil
    }

    /// Returns whether the entries cover the state of the request's row.
    ///
    /// No signature covers the list of the entries about a request, so the list is checked against the row.
    ///
    /// - Parameter isWhole: whether no entry was removed because of its age.
    private static func tell(_ rows: [JournalRow], of record: RequestRecord, isWhole: Bool) -> Bool {
        let entries = rows.compactMap(JournalEntry.init)
        guard !isWhole || entries.contains(where: { $0.text("payload") != nil }) else { return false }
        let isSigned = entries.contains { $0.kind == .decided && $0.number("signCount") != nil }
        guard record.life.state != .approved || isSigned else { return false }
        var wanted: Set<JournalFact.Kind> = []
        switch record.life.state {
        case .pending: break
        case .approved, .denied: wanted.insert(.decided)
        case .expired: wanted.insert(.expired)
        case .cancelled: wanted.insert(.cancelled)
        case .refused: wanted.insert(.refused)
        }
        switch record.life.delivery {
        case .none, .queued: break
        case .delivered: wanted.insert(.answered)
        case .failed: wanted.insert(.deliveryFailed)
        }
        if record.hasConflict { wanted.insert(.conflict) }
        return wanted.isSubset(of: entries.map(\.kind))
    }
}
