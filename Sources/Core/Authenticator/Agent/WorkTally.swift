import Journal
import Records
import StoreTables
import Synchronization

/// A counter that brings ``WorkCounts`` up to date from the journal when a caller asks for them.
///
/// Only durable entries are counted. A caller does not wait for entries that were written long ago, because
/// ``count(in:_:)`` has read them.
final class WorkTally: Sendable {
    private struct State {
        var startedAt: Int64 = 0
        /// The last entry that was counted.
        var position: Int64 = 0
        var counts = WorkCounts()
        /// The number of entries that were written since the last page was read.
        var written = 0
    }

    private let pageSize: Int
    /// The limit for pages that are read while a caller waits.
    private let maxPages: Int
    private let state = Mutex(State())

    init(pageSize: Int = 500, maxPages: Int = 20) {
        (self.pageSize, self.maxPages) = (pageSize, maxPages)
    }

    /// Starts the counts with the entry after `sequence`.
    func begin(after sequence: Int64, at now: Int64) {
        state.withLock { $0 = State(startedAt: now, position: sequence) }
    }

    /// Seconds since 1970.
    var startedAt: Int64 { state.withLock(\.startedAt) }

    /// The last entry that was counted.
    var position: Int64 { state.withLock(\.position) }

    /// The counts as of the last read of the journal.
    var counts: WorkCounts { state.withLock(\.counts) }

    /// Reads to the journal's end whenever a page or more may have been written.
    ///
    /// If the journal cannot be read, this waits for the next write. ``readOn(in:)`` throws that error to its caller,
    /// and a later read counts the entries.
    func count(in store: any Store, _ hub: EventHub) async throws {
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

    /// Reads to the journal's end, but at most `maxPages` pages, because a caller waits.
    func readOn(in store: any Store) async throws {
        for _ in 0..<maxPages {
            guard try await readPage(in: store) else { return }
        }
    }

    /// Reads and counts one page, and returns `false` at the journal's end.
    private func readPage(in store: any Store) async throws -> Bool {
        let (start, limit) = (state.withLock(\.position), pageSize)
        let page = try await store.read { try Page(after: start, in: $0, limit: limit) }
        state.withLock { state in
            state.written = 0
            // A concurrent caller may have counted this page.
            guard let end = page.end, state.position == start else { return }
            for (entry, request) in page.entries { state.counts.count(entry, about: request) }
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
