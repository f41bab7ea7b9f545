import Logging
import ThreeDS

/// Removes the journal's oldest entries when their time is over, in small steps, each behind a signed mark.
package struct JournalPruner: Sendable {
    /// How many entries one database transaction looks at, so that a decision never waits long.
    private static let batch = 200
    /// How many batches are searched for due entries behind some that are not due.
    ///
    /// Half of them may be from when the clock was ahead.
    private static let maxBatches = 50
    private static let day: Double = 86_400

    let store: JournaledStore
    let ports: Ports
    /// Seconds.
    let retention: Int64
    let log: Logger

    /// Works until the task is cancelled: at start, and once a day.
    package func run() async throws {
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
        let oldest = UTCTime.text(ports.clock.now - retention)
        // A look costs nothing; a write is made only if something is due.
        guard let last = try await lastDue(before: oldest) else { return false }
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
    /// Entries from when the clock was ahead say a time that is long to come. They go with what stands behind them, once
    /// more of that is due than they are: so neither do they hold up the rest, nor does an entry from when the clock was
    /// behind, of which there are few, take along those before it.
    private func lastDue(before oldest: String) async throws -> Int64? {
        var (isFirst, isEachDue, surplus) = (true, true, 0)
        var (last, position): (Int64?, Int64) = (nil, 0)
        for _ in 0..<Self.maxBatches {
            let after = position
            let rows = try await store.read { store in
                try store.journal(after: max(after, store.journalMark(.floor)?.point.sequence ?? 0), limit: Self.batch)
            }
            for row in rows {
                let isDue = JournalEntry(row).map { $0.at < oldest } ?? false
                if isFirst { (isFirst, isEachDue) = (false, isDue) }
                surplus += isDue ? 1 : -1
                if isEachDue, !isDue { return last }
                if surplus > 0 { last = row.sequence }
                if !isEachDue, surplus > 0 { return last }
            }
            guard let end = rows.last, rows.count == Self.batch, !isEachDue else { return last }
            position = end.sequence
        }
        return nil
    }
}
