import Synchronization

/// Keeps ``WorkCounts`` by reading on in the journal whenever somebody asks: nothing is counted that is not durable, and
/// whoever never asks pays nothing.
final class WorkTally: Sendable {
    private static let pageSize = 500

    private struct State {
        var startedAt: Int64 = 0
        /// The last entry that was counted.
        var position: Int64 = 0
        var counts = WorkCounts()
    }

    private let state = Mutex(State())

    /// Counts what comes after an entry.
    func begin(after sequence: Int64, at now: Int64) {
        state.withLock { $0 = State(startedAt: now, position: sequence) }
    }

    /// Seconds since 1970.
    var startedAt: Int64 { state.withLock(\.startedAt) }

    /// As of the last time that the journal was read.
    var counts: WorkCounts { state.withLock(\.counts) }

    /// Reads on to the journal's end.
    func readOn(in book: any Book) async throws {
        while true {
            let start = state.withLock(\.position)
            let page = try await book.read { try Page(after: start, in: $0, limit: Self.pageSize) }
            guard let end = page.end else { return }
            state.withLock { state in
                // Whoever asked at the same time may have counted it.
                guard state.position == start else { return }
                for (entry, request) in page.entries { state.counts.note(entry, about: request) }
                state.position = end
            }
        }
    }

    private struct Page: Sendable {
        let entries: [(JournalEntry, RequestRecord?)]
        let end: Int64?

        init(after sequence: Int64, in book: any BookReader, limit: Int) throws {
            let rows = try book.journal(after: sequence, limit: limit)
            end = rows.last?.sequence
            entries = try rows.compactMap(JournalEntry.init).map { entry in
                let isTimed = entry.kind == .decided || entry.kind == .answered
                let id = isTimed ? entry.text("request").flatMap(RequestID.init) : nil
                return (entry, try id.flatMap { try book.request($0) })
            }
        }
    }
}
