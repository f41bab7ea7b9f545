import Records
import StoreTables

/// Signs the checkpoints of the journal.
///
/// The audit key signs only points on the way from its last checkpoint to the signed head. So if another program has
/// changed an entry, no checkpoint follows that entry, and the change can still be found.
package struct CheckpointSigning: Sendable {
    private static let batch = 500

    package let store: JournaledStore

    package init(store: JournaledStore) { self.store = store }

    private struct Due {
        /// The point behind which the first checkpoint's entries begin.
        var start: JournalPoint
        /// The older points that the first checkpoint names.
        var earlier: [JournalPoint]
        /// The points where checkpoints are due, proved by the signed head, oldest first.
        var ends: [JournalPoint]
    }

    /// Signs all checkpoints that are due, each in its own database transaction, until the task is cancelled.
    ///
    /// - Returns: the number of signed checkpoints.
    /// - Throws: ``JournalError`` for an entry, a mark or a checkpoint that fails verification. Then this call signs no
    ///   checkpoint.
    @discardableResult
    package func signDue() async throws -> Int {
        guard var due = try await due() else { return 0 }
        for (count, end) in due.ends.enumerated() {
            try Task.checkCancellation()
            let start = due.start.sequence
            let rows = try await store.read { store in
                try store.journal(after: start, limit: Int(end.sequence - start))
            }
            // Entries may have been removed because of their age since then. Only that may change them.
            guard try Self.lead(rows, from: due.start, to: end),
                let checkpoint = try await store.checkpoint(at: end, earlier: due.earlier),
                try await store.write({ store in
                    guard try store.journalMark(.floor)?.point.sequence ?? 0 < end.sequence else { return false }
                    try store.insert(checkpoint, about: Set(rows.compactMap(\.request)))
                    return true
                })
            else { return count }
            due.start = end
            due.earlier = checkpoint.earlierOfNext
            await Task.yield()
        }
        return due.ends.count
    }

    private static func lead(_ rows: [JournalRow], from start: JournalPoint, to end: JournalPoint) throws -> Bool {
        var chain = JournalChain(after: start)
        for row in rows {
            guard try chain.follow(row) else { return false }
        }
        return chain.last == end
    }

    /// Returns `nil` if no checkpoint is due.
    private func due() async throws -> Due? {
        let (head, floor, checkpoint) = try await store.read { store in
            (try store.journalMark(.head), try store.journalMark(.floor), try store.newestCheckpoint())
        }
        guard let head else { return nil }
        var due = Due(start: floor?.point ?? .beginning, earlier: [], ends: [])
        if let checkpoint, checkpoint.point.sequence > due.start.sequence {
            due.start = checkpoint.point
            due.earlier = checkpoint.earlierOfNext
        }
        let last = head.point.sequence / JournalCheckpoint.length * JournalCheckpoint.length
        guard last > due.start.sequence else { return nil }
        try await expectSigned(head, .head)
        if let floor { try await expectSigned(floor, .floor) }
        if let checkpoint, let key = try await store.publicKey(), try !checkpoint.isSigned(by: key) {
            throw JournalError(
                sequence: checkpoint.point.sequence, problem: "has a checkpoint that the audit key has not signed")
        }
        due.ends = try await ends(from: due.start, through: last, provedBy: head.point) ?? []
        return due
    }

    private func expectSigned(_ mark: JournalMark, _ name: JournalMark.Name) async throws {
        guard try await store.isSigned(mark, as: name) else {
            throw JournalError(
                sequence: mark.point.sequence, problem: "is not the \(name.rawValue) that the audit key has signed")
        }
    }

    /// Returns the due points up to `last`, or `nil` if entries were removed because of their age meanwhile.
    private func ends(
        from start: JournalPoint, through last: Int64, provedBy head: JournalPoint
    ) async throws -> [JournalPoint]? {
        var (chain, ends): (JournalChain, [JournalPoint]) = (JournalChain(after: start), [])
        while chain.last.sequence < head.sequence {
            try Task.checkCancellation()
            let place = chain.last.sequence
            let (rows, floor) = try await store.read { store in
                (
                    try store.journal(after: place, limit: Self.batch),
                    try store.journalMark(.floor)?.point.sequence ?? 0
                )
            }
            if floor > place { return nil }
            guard !rows.isEmpty else { throw JournalError(sequence: place + 1, problem: "is missing") }
            for row in rows where row.sequence <= head.sequence {
                guard try chain.follow(row) else {
                    throw JournalError(sequence: row.sequence, problem: "does not follow the one before it")
                }
                if row.sequence <= last, row.sequence % JournalCheckpoint.length == 0 { ends.append(chain.last) }
            }
            await Task.yield()
        }
        guard chain.last == head else {
            throw JournalError(sequence: head.sequence, problem: "was changed: the signed head is of another one")
        }
        return ends
    }
}
