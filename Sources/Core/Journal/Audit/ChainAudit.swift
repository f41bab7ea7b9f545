import Keys
import Records
import StoreTables

/// Verifies one chain of the journal, entry by entry, up to the signed head.
///
/// Each entry must contain the digest of the entry before it, and the signed head must name the last entry. An entry
/// that is appended meanwhile is not a fault: the audit ends at the head as of its start. ``goOn(to:with:telling:)``
/// continues it to a later head. At most one batch of entries is in memory.
struct ChainAudit: Sendable {
    /// Maximum number of entries in memory.
    private static let batch = 512

    let store: JournaledStore
    private(set) var end: JournalMoment.End
    /// The request whose entries are collected, or `nil` for none.
    let request: RequestID?

    private(set) var count = 0
    private(set) var found: [JournalEntry] = []
    private(set) var floor: JournalMark?
    /// The other hosts that this chain names.
    ///
    /// ``faultsOfOthers`` has the faults that its entries show in the chains of those hosts.
    private(set) var named: Set<String> = []
    private(set) var faultsOfOthers: [String: JournalError] = [:]
    /// `nil` before the first batch.
    private var check: JournalCheck?
    /// The last verified checkpoint.
    private var checkpoint: JournalCheckpoint?
    private var place: ChainPlace

    init(_ store: JournaledStore, _ end: JournalMoment.End, _ request: RequestID?) {
        (self.store, self.end, self.request) = (store, end, request)
        place = ChainPlace(of: end.host)
    }

    /// Verifies the chain up to its end.
    ///
    /// - Parameters:
    ///   - ends: the ends of all chains, by host.
    ///   - rows: receives the statements of the entries about rows.
    /// - Returns: the first entry that fails verification, or `nil` if all pass.
    /// - Throws: ``ChainsChanged``; the store's errors.
    mutating func verify(
        among ends: [String: JournalMoment.End], telling rows: inout JournaledRows
    ) async throws -> JournalError? {
        do {
            while true {
                let audit = self
                let batch = try await store.survey { try audit.batch(in: $0, to: audit.end, among: ends) }
                guard try follow(batch, telling: &rows) else { break }
            }
            try conclude()
            return nil
        } catch let fault as JournalError {
            return ofChain(fault)
        }
    }

    /// Continues the verification to `end`, or to the end of the batch.
    ///
    /// - Returns: the first entry that fails verification, or `nil` if all pass. ``concluded()`` still has to verify
    ///   the end.
    mutating func goOn(
        to end: JournalMoment.End, with batch: Batch, telling rows: inout JournaledRows
    ) throws -> JournalError? {
        do {
            let followed = check?.last.sequence ?? 0
            if let head = end.head?.point, head.sequence < followed {
                throw JournalError(
                    sequence: head.sequence + 1, problem: "is missing: the journal went on to entry \(followed) before")
            }
            self.end = end
            _ = try follow(batch, telling: &rows)
            return nil
        } catch let fault as JournalError {
            return ofChain(fault)
        }
    }

    /// Verifies the end of the chain against the audit key's signature.
    ///
    /// - Returns: the fault, or `nil` if there is none.
    func concluded() throws -> JournalError? {
        do {
            try conclude()
            return nil
        } catch let fault as JournalError {
            return ofChain(fault)
        }
    }

    private func ofChain(_ fault: JournalError) -> JournalError {
        fault.host == nil && !end.host.isEmpty ? fault.of(host: end.host) : fault
    }

    private func conclude() throws {
        let (head, key) = try signed()
        try check?.verifyEnd(at: head.point)
        guard try head.isSigned(by: key, as: .head) else {
            throw JournalError(sequence: head.point.sequence, problem: "is not the one that the audit key has signed")
        }
        if let behind = end.behind {
            throw JournalError(sequence: behind.sequence, problem: "was put in behind the signed head")
        }
    }

    private func signed() throws(JournalError) -> (head: JournalMark, key: PublicKey) {
        guard let head = end.head else {
            throw JournalError(sequence: 1, problem: "is missing: the journal has no head")
        }
        guard let key = end.key else {
            throw JournalError(
                sequence: 1, problem: "is signed by nobody: the audit key is gone, or not under this agent's secret")
        }
        return (head, key)
    }

    /// The next entries of a chain, with the data of the store that is needed to verify them.
    struct Batch: Sendable {
        let floor: JournalMark?
        let rows: [JournalRow]
        let checkpoints: [JournalCheckpoint]
        /// The enrollments that the entries report as made or ended, and that have not ended in the store.
        let live: [EnrollmentID: Enrollment]
        /// Whether there are entries of the chain after these.
        let hasMore: Bool
        /// Whether a move of the state is among them, so that the chains named before no longer exist.
        let isMoved: Bool
        let named: Set<String>
        let faults: [JournalError]
    }

    /// Reads the next batch of entries, at most up to the end of the chain.
    func batch(
        in store: StoreReading, to end: JournalMoment.End, among ends: [String: JournalMoment.End]
    ) throws -> Batch {
        let (host, last) = (end.host, end.head?.point.sequence ?? 0)
        guard let reader = host.isEmpty ? store : store.reader(of: host) else {
            throw JournalError(sequence: 1, problem: "is of no host")
        }
        let rows = try reader.journal(after: check?.last.sequence ?? 0, limit: Self.batch)
        let known = rows.filter { $0.sequence <= last }
        let due = rows.map(\.sequence).filter { $0.isMultiple(of: JournalCheckpoint.length) }
        let moved = known.last { $0.kind == .moved }?.sequence
        let seen = known.filter { $0.sequence > moved ?? 0 && $0.kind == .hostsSeen }
            .flatMap { JournalEntry($0, isFollowed: true)?.hostsSeen ?? [] }
        var chains = NamedChains(store, ends)
        let named = Set(known.flatMap(JournaledEnrollments.named))
        let live = named.isEmpty ? [] : try store.enrollments(among: named)
        return Batch(
            floor: try reader.journalMark(.floor), rows: known,
            checkpoints: try due.compactMap { try reader.checkpoint(at: $0) },
            live: Dictionary(live.map { ($0.id, $0) }) { first, _ in first },
            hasMore: known.count == Self.batch && known.last?.sequence ?? last < last, isMoved: moved != nil,
            named: Set(seen.map(\.host)),
            faults: try seen.compactMap { try chains.fault(of: $0, by: reader.journalHost ?? host) })
    }

    /// Verifies a batch, and returns `false` if no entries are left up to the end.
    private mutating func follow(_ batch: Batch, telling told: inout JournaledRows) throws -> Bool {
        let (_, key) = try signed()
        var check = try next(behind: batch.floor, key)
        for row in batch.rows {
            let isFollowed = try check.follow(row)
            let entry: JournalEntry?
            if isFollowed {
                let isRead = row.tellsOfRows || (request != nil && row.request == request)
                entry = isRead ? JournalEntry(row, isFollowed: true) : nil
            } else {
                entry = try check.verify(row)
            }
            if let checkpoint = batch.checkpoints.first(where: { $0.point.sequence == row.sequence }) {
                try compare(checkpoint, against: check.last, key)
            }
            count += 1
            if let entry { try follow(entry, live: batch.live, telling: &told) }
        }
        self.check = check
        floor = batch.floor
        if batch.isMoved { (named, faultsOfOthers) = ([], [:]) }
        named.formUnion(batch.named)
        for fault in batch.faults { faultsOfOthers[fault.host ?? "", default: fault] = fault }
        return batch.hasMore
    }

    private mutating func follow(
        _ entry: JournalEntry, live: [EnrollmentID: Enrollment], telling told: inout JournaledRows
    ) throws {
        if entry.kind == .auditKeyMade, let host = entry.text("host"), !end.host.isEmpty, host != end.host {
            throw JournalError(sequence: entry.sequence, problem: "is of another host: \(host) has written it")
        }
        try told.follow(entry, at: place, live: live)
        place.follow(entry)
        if let request, entry.request == request, found.count < JournalExtract.maxEntries { found.append(entry) }
    }

    /// - Parameter point: the point that the verified entries lead to.
    private mutating func compare(
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
        // A missing checkpoint between the two only costs time. It casts no doubt on the entries.
        if let before = self.checkpoint, before.point.sequence == checkpoint.earlier.first?.sequence,
            before.earlierOfNext != checkpoint.earlier
        {
            throw JournalError(sequence: point.sequence, problem: "has a checkpoint that is of another journal")
        }
        self.checkpoint = checkpoint
    }

    /// Returns the check to continue with; a new check starts behind `floor`.
    private func next(behind floor: JournalMark?, _ key: PublicKey) throws -> JournalCheck {
        if let check, floor == self.floor { return check }
        if let floor, try !floor.isSigned(by: key, as: .floor) {
            throw JournalError(
                sequence: floor.point.sequence, problem: "was removed, and not for its age: no signature says so")
        }
        let start = floor?.point ?? .beginning
        if let check {
            // The removed entries were not verified. A row may agree with them and contradict the entries verified
            // before.
            guard check.last.sequence >= start.sequence else { throw ChainsChanged() }
            return check
        }
        // The entries of other chains were compared with an earlier start of this chain.
        guard end.host.isEmpty || start.sequence == end.start else { throw ChainsChanged() }
        return JournalCheck(after: start)
    }
}

/// The error for chains that changed so much that the audit must start again.
///
/// A host came or went, or entries were removed because of their age before the audit had read them.
struct ChainsChanged: Error {}
