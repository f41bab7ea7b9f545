import Logging
import ThreeDS

/// Removes the journal's oldest entries when their time is over, in small steps, each behind a signed mark.
package struct JournalPruner: Sendable {
    /// How many entries one database transaction looks at, so that a decision never waits long.
    private static let batch = 200
    private static let day: Double = 86_400

    let book: JournaledBook
    let ports: Ports
    /// Seconds.
    let retention: Int64
    let log: Logger

    /// Works until the task is cancelled: at start, and once a day.
    package func run() async throws {
        while !Task.isCancelled {
            do {
                try await ports.patiently { while try await step() { await Task.yield() } }
            } catch let fault as JournalFault {
                log.error("the journal is not pruned: it is not whole", metadata: ["fault": "\(fault)"])
            } catch {
                guard !Task.isCancelled else { return }
                log.error("the journal could not be pruned", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: Self.day)
        }
    }

    /// Removes some entries; true where there may be more.
    ///
    /// An entry goes only when the one after it vouches for it, so pruning cannot hide that one was changed, and the
    /// newest entry always stays.
    ///
    /// - Throws: ``JournalFault`` for an entry that is not as it was written; then nothing goes.
    func step() async throws -> Bool {
        let oldest = UTCTime.text(ports.clock.now - retention)
        // A look costs nothing; a write is made only where something is due.
        let isDue = try await book.read { book in
            let rows = try book.journal(after: book.journalMark(.floor)?.point.sequence ?? 0, limit: 1)
            return rows.compactMap(JournalEntry.init).contains { $0.at < oldest }
        }
        guard isDue else { return false }
        return try await book.write { pages in
            let start = try pages.journalMark(.floor)?.point ?? .beginning
            var check = JournalCheck(after: start)
            for row in try pages.journal(after: start.sequence, limit: Self.batch) {
                try check.hold(row)
                guard let entry = JournalEntry(row), entry.at < oldest else { break }
            }
            guard let floor = check.vouched, floor != start else { return false }
            try pages.set(book.mark(.floor, at: floor, in: pages), as: .floor)
            try pages.removeJournal(through: floor.sequence)
            return true
        }
    }
}
