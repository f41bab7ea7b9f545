import Keys

/// Verifies one chain of the journal: each entry against the next, the last one against the signed head.
///
/// What is written or pruned while it reads is no fault: it ends at the head of its beginning, and if entries go for
/// their age it goes on behind the new floor. No more than a batch is in memory.
struct ChainAudit: Sendable {
    /// The most entries that are in memory.
    private static let batch = 512

    let store: JournaledStore
    let end: JournalMoment.End
    /// Where all chains end, by host.
    let ends: [String: JournalMoment.End]
    /// Whose entries are wanted; nil for none.
    let request: RequestID?

    private(set) var count = 0
    private(set) var found: [JournalEntry] = []
    private(set) var floor: JournalMark?
    /// What it says about other chains: whom it has named, and what is wrong with them.
    private(set) var named: Set<String> = []
    private(set) var faultsOfOthers: [String: JournalError] = [:]
    /// Nil before the first batch.
    private var check: JournalCheck?
    /// The checkpoint before the next one.
    private var checkpoint: JournalCheckpoint?
    private var place: ChainPlace

    init(
        _ store: JournaledStore, _ end: JournalMoment.End, among ends: [String: JournalMoment.End],
        _ request: RequestID?
    ) {
        (self.store, self.end, self.ends, self.request) = (store, end, ends, request)
        place = ChainPlace(of: end.host)
    }

    /// Follows the chain to its end.
    ///
    /// - Parameter rows: takes what the entries say of rows.
    /// - Returns: the first entry that is not as it was written; nil if all are.
    mutating func run(telling rows: inout JournaledRows) async throws -> JournalError? {
        do {
            try await hold(telling: &rows)
            return nil
        } catch let fault as JournalError {
            return fault.host == nil && !end.host.isEmpty ? fault.of(host: end.host) : fault
        }
    }

    private mutating func hold(telling rows: inout JournaledRows) async throws {
        guard let head = end.head else {
            throw JournalError(sequence: 1, problem: "is missing: the journal has no head")
        }
        guard let key = end.key else {
            throw JournalError(
                sequence: 1, problem: "is signed by nobody: the audit key is gone, or not under this agent's secret")
        }
        while try await holdBatch(upTo: head.point.sequence, key, telling: &rows) {}
        try check?.end(at: head.point)
        guard try head.isSigned(by: key, as: .head) else {
            throw JournalError(sequence: head.point.sequence, problem: "is not the one that the audit key has signed")
        }
        if let behind = end.behind {
            throw JournalError(sequence: behind.sequence, problem: "was put in behind the signed head")
        }
        rows.end(end.host, behind: floor?.point.sequence ?? 0)
    }

    private struct Batch: Sendable {
        let floor: JournalMark?
        let rows: [JournalRow]
        let checkpoints: [JournalCheckpoint]
        /// Whether the state was moved: the chains that were named before are not there any more.
        let isMoved: Bool
        let named: Set<String>
        let faults: [JournalError]
    }

    private func batch(after position: Int64, upTo last: Int64, limit: Int) async throws -> Batch {
        let (host, ends) = (end.host, ends)
        return try await store.read { store in
            let reader = host.isEmpty ? store : store.reader(of: host)
            guard let reader else { throw JournalError(sequence: 1, problem: "is of no host") }
            let rows = try reader.journal(after: position, limit: limit)
            let due = rows.map(\.sequence).filter { $0.isMultiple(of: JournalCheckpoint.length) }
            let moved = rows.last { $0.sequence <= last && $0.kind == .moved }?.sequence
            let seen = rows.filter { $0.sequence > moved ?? 0 && $0.sequence <= last && $0.kind == .hostsSeen }
                .flatMap { JournalEntry($0, isFollowed: true)?.hostsSeen ?? [] }
            var chains = NamedChains(store, ends)
            return Batch(
                floor: try reader.journalMark(.floor), rows: rows,
                checkpoints: try due.compactMap { try reader.checkpoint(at: $0) }, isMoved: moved != nil,
                named: Set(seen.map(\.host)),
                faults: try seen.compactMap { try chains.fault(of: $0, by: reader.journalHost ?? host) })
        }
    }

    /// False if there is no more up to `last`.
    private mutating func holdBatch(
        upTo last: Int64, _ key: PublicKey, telling told: inout JournaledRows
    ) async throws -> Bool {
        let position = check?.last.sequence ?? 0
        let batch = try await batch(after: position, upTo: last, limit: Self.batch)
        var check = try next(behind: batch.floor, key)
        for row in batch.rows where row.sequence <= last {
            let isFollowed = try check.follow(row)
            let entry: JournalEntry?
            if isFollowed {
                let isRead = row.tellsOfRows || (request != nil && row.request == request)
                entry = isRead ? JournalEntry(row, isFollowed: true) : nil
            } else {
                entry = try check.hold(row)
            }
            if let checkpoint = batch.checkpoints.first(where: { $0.point.sequence == row.sequence }) {
                try hold(checkpoint, against: check.last, key)
            }
            count += 1
            if let entry { try follow(entry, telling: &told) }
        }
        self.check = check
        floor = batch.floor
        if batch.isMoved { (named, faultsOfOthers) = ([], [:]) }
        named.formUnion(batch.named)
        for fault in batch.faults { faultsOfOthers[fault.host ?? "", default: fault] = fault }
        return batch.rows.count == Self.batch && check.last.sequence < last
    }

    private mutating func follow(_ entry: JournalEntry, telling told: inout JournaledRows) throws {
        if entry.kind == .auditKeyMade, let host = entry.text("host"), !end.host.isEmpty, host != end.host {
            throw JournalError(sequence: entry.sequence, problem: "is of another host: \(host) has written it")
        }
        told.follow(entry, at: place)
        place.follow(entry)
        if let request, entry.request == request, found.count < JournalExtract.maxEntries { found.append(entry) }
    }

    /// - Parameter point: where the entries lead to.
    private mutating func hold(
        _ checkpoint: JournalCheckpoint, against point: JournalPoint, _ key: PublicKey
    ) throws {
        guard try checkpoint.isSigned(by: key) else {
            throw JournalError(
                sequence: point.sequence, problem: "has a checkpoint that the audit key has not signed")
        }
        guard checkpoint.point == point else {
            throw JournalError(
                sequence: max(checkpoint.entries.lowerBound, (floor?.point.sequence ?? 0) + 1),
                problem: "or one behind it, up to \(point.sequence), was changed: their checkpoint is of others")
        }
        // A checkpoint that is missing between the two costs time alone, and says nothing of the entries.
        if let before = self.checkpoint, before.point.sequence == checkpoint.earlier.first?.sequence,
            before.earlierOfNext != checkpoint.earlier
        {
            throw JournalError(sequence: point.sequence, problem: "has a checkpoint that is of another journal")
        }
        self.checkpoint = checkpoint
    }

    /// The check that goes on with what stands behind `floor`: another one if entries that it waits for are gone.
    private func next(behind floor: JournalMark?, _ key: PublicKey) throws -> JournalCheck {
        if let check, floor == self.floor { return check }
        if let floor, try !floor.isSigned(by: key, as: .floor) {
            throw JournalError(
                sequence: floor.point.sequence, problem: "was removed, and not for its age: no signature says so")
        }
        let start = floor?.point ?? .beginning
        guard let check, check.last.sequence >= start.sequence else { return JournalCheck(after: start) }
        return check
    }
}
