import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Background task that removes the journal's oldest entries by age, in small steps, each behind a signed mark.
struct JournalPruner: Sendable {
    /// The most entries that one database transaction reads, so that a decision never waits long.
    private static let batch = 200
    /// The most batches that are searched for due entries behind entries from when the clock was ahead.
    private static let maxBatches = 50
    private static let day: Double = 86_400

    let store: JournaledStore
    let ports: Ports
    /// The retention, in seconds.
    let retention: Int64
    let log: Logger

    /// Prunes the journal at start and once a day, until the task is cancelled.
    func run() async throws {
        while !Task.isCancelled {
            let begun = ports.clock.steady
            do {
                try await ports.patiently { while try await step() { await Task.yield() } }
            } catch let fault as JournalError {
                log.error("the journal is damaged, and is not pruned", metadata: ["fault": "\(fault)"])
            } catch {
                guard !Task.isCancelled else { return }
                log.error("the journal could not be pruned", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: Self.day, since: begun)
        }
    }

    /// Removes a batch of due entries.
    ///
    /// An entry is removed only if its successor's hash vouches for it, so pruning cannot hide a change of an entry.
    /// The newest entry always stays.
    ///
    /// - Returns: whether there may be more.
    /// - Throws: ``JournalError`` for an entry that was changed. Then no entry is removed.
    func step() async throws -> Bool {
        let proven = ports.provenTime.now
        let (oldest, newest) = (UTCTime.text(proven - retention), UTCTime.text(max(proven, ports.clock.now)))
        // A read is cheap. A write is made only if an entry is due.
        guard let last = try await lastDue(before: oldest, ahead: newest) else { return false }
        // Entries may have been added since, but the oldest ones are the same: only this task removes entries.
        return try await store.write { writer in
            let start = try writer.journalMark(.floor)?.point ?? .beginning
            var check = JournalCheck(after: start)
            for row in try writer.journal(after: start.sequence, limit: Self.batch) {
                try check.verify(row)
                if row.sequence > last { break }
            }
            guard let floor = check.vouched, floor != start else { return false }
            try writer.set(store.mark(.floor, at: floor, in: writer), as: .floor)
            try writer.removeJournal(through: floor.sequence)
            return true
        }
    }

    /// Returns the last due entry at the beginning of the journal.
    ///
    /// `nil` if none is due. An entry that is not due keeps all entries behind it: they are younger, even if their time
    /// says otherwise. Entries from when the clock was ahead have a future time. They keep no other entry, and are
    /// removed with a due one behind them.
    ///
    /// - Parameter newest: the latest plausible time. An entry with a later time is from such a clock.
    private func lastDue(before oldest: String, ahead newest: String) async throws -> Int64? {
        var (last, position): (Int64?, Int64) = (nil, 0)
        for _ in 0..<Self.maxBatches {
            let after = position
            let rows = try await store.read { store in
                try store.journal(after: max(after, store.journalMark(.floor)?.point.sequence ?? 0), limit: Self.batch)
            }
            for row in rows {
                guard let entry = JournalEntry(row) else { return last }
                if entry.at < oldest {
                    last = row.sequence
                } else if entry.at <= newest {
                    return last
                }
            }
            guard let end = rows.last, rows.count == Self.batch, last == nil else { return last }
            position = end.sequence
        }
        return nil
    }
}
