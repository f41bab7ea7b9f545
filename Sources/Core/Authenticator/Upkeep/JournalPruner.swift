import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Removes the journal's oldest entries when their time is over, in small steps, each behind a signed mark.
struct JournalPruner: Sendable {
    /// How many entries one database transaction looks at, so that a decision never waits long.
    private static let batch = 200
    /// The most batches that are searched for due entries behind some from when the clock was ahead.
    private static let maxBatches = 50
    private static let day: Double = 86_400

    let store: JournaledStore
    let ports: Ports
    /// Seconds.
    let retention: Int64
    let log: Logger

    /// Works until the task is cancelled: at start, and once a day.
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

    /// Removes some entries; true if there may be more.
    ///
    /// An entry goes only when the one after it vouches for it, so pruning cannot hide that one was changed, and the
    /// newest entry always stays.
    ///
    /// - Throws: ``JournalError`` for an entry that is not as it was written; then nothing goes.
    func step() async throws -> Bool {
        let proven = ports.provenTime.now
        let (oldest, newest) = (UTCTime.text(proven - retention), UTCTime.text(max(proven, ports.clock.now)))
        // A look costs nothing; a write is made only if something is due.
        guard let last = try await lastDue(before: oldest, ahead: newest) else { return false }
        // Entries may have been added since, which changes nothing about the oldest; only this removes any.
        return try await store.write { writer in
            let start = try writer.journalMark(.floor)?.point ?? .beginning
            var check = JournalCheck(after: start)
            for row in try writer.journal(after: start.sequence, limit: Self.batch) {
                try check.hold(row)
                if row.sequence > last { break }
            }
            guard let floor = check.vouched, floor != start else { return false }
            try writer.set(store.mark(.floor, at: floor, in: writer), as: .floor)
            try writer.removeJournal(through: floor.sequence)
            return true
        }
    }

    /// The last entry of those at the beginning whose time is over; nil if there is none.
    ///
    /// An entry that is not due keeps all behind it: those are younger, whatever they say. Those from when the clock was
    /// ahead say a time that is still to come. They keep nothing, and go with a due one behind them.
    ///
    /// - Parameter newest: what is later is from such a clock.
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
