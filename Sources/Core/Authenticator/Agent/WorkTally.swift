import Journal
import Records
import StoreTables
import Synchronization

/// Keeps ``WorkCounts`` by reading on in the journal whenever somebody asks.
///
/// Nothing is counted that is not durable, and who asks does not wait for what was written long ago.
final class WorkTally: Sendable {
    private struct State {
        var startedAt: Int64 = 0
        /// The last entry that was counted.
        var position: Int64 = 0
        var counts = WorkCounts()
        /// How many entries were written since the last page.
        var written = 0
    }

    private let pageSize: Int
    /// The most pages that are read for one who asks.
    private let maxPages: Int
    private let state = Mutex(State())

    init(pageSize: Int = 500, maxPages: Int = 20) {
        (self.pageSize, self.maxPages) = (pageSize, maxPages)
    }

    /// Counts what comes after an entry.
    func begin(after sequence: Int64, at now: Int64) {
        state.withLock { $0 = State(startedAt: now, position: sequence) }
    }

    /// Seconds since 1970.
    var startedAt: Int64 { state.withLock(\.startedAt) }

    /// The last entry that was counted.
    var position: Int64 { state.withLock(\.position) }

    /// As of the last time that the journal was read.
    var counts: WorkCounts { state.withLock(\.counts) }

    /// Reads on to the journal's end by itself each time that a page and more may have been written.
    ///
    /// If it cannot be read, this waits for the next write: who asks is told, and nothing stays uncounted.
    func run(in store: any Store, _ hub: EventHub) async throws {
        let notifier = hub.notifier { [self] event in
            if case .found(.journal(let head)) = event {
                return state.withLock { head - $0.position >= Int64(pageSize) }
            }
            guard event.kind != nil else { return false }
            return state.withLock { state in
                state.written += 1
                return state.written >= pageSize
            }
        }
        for await _ in notifier {
            while (try? await readPage(in: store)) == true {}
        }
        try Task.checkCancellation()
    }

    /// Reads on to the journal's end, or as far as somebody who waits for it may be kept waiting.
    func readOn(in store: any Store) async throws {
        for _ in 0..<maxPages {
            guard try await readPage(in: store) else { return }
        }
    }

    /// False at the journal's end.
    private func readPage(in store: any Store) async throws -> Bool {
        let (start, limit) = (state.withLock(\.position), pageSize)
        let page = try await store.read { try Page(after: start, in: $0, limit: limit) }
        state.withLock { state in
            state.written = 0
            // Whoever asked at the same time may have counted it.
            guard let end = page.end, state.position == start else { return }
            for (entry, request) in page.entries { state.counts.note(entry, about: request) }
            state.position = end
        }
        return page.end != nil
    }

    private struct Page: Sendable {
        let entries: [(JournalEntry, RequestRecord?)]
        let end: Int64?

        init(after sequence: Int64, in store: StoreReading, limit: Int) throws {
            let rows = try store.journal(after: sequence, limit: limit)
            end = rows.last?.sequence
            entries = try rows.compactMap(JournalEntry.init).map { entry in
                let isTimed = entry.kind == .decided || entry.kind == .answered
                let id = isTimed ? entry.request : nil
                return (entry, try id.flatMap { try store.request($0) })
            }
        }
    }
}
