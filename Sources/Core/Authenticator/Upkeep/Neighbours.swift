import Journal
import Logging
import Records
import StoreTables

/// Background task that publishes the journal entries of other hosts as events on this host.
///
/// Hosts announce entries only in the store, because a `NOTIFY` in a decision's database transaction would delay all
/// hosts. So this task reads the store each second, by an index. It only makes work known early. A paused host may find
/// that entries were removed for their age, or are more than it reads. Then it publishes ``AgentEvent/gap``, continues
/// at the end, and the ``PeriodicLook`` finds the work.
struct Neighbours: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger
    let told: ToldNeighbours
    /// The most entries of one host that are published in one pass.
    ///
    /// If there are more, all of them are skipped, with a ``AgentEvent/gap``, so that no host is behind for longer than
    /// one pass.
    var most: Int64 = 20_000

    /// The seconds between two passes.
    static let pause: Double = 1
    /// The most entries of one host that are published at a time.
    static let limit = 1_000

    /// Works until the task is cancelled.
    func run() async throws {
        // Each service reads the store when it starts. Entries of that time may be published twice.
        try await ports.patiently {
            let (own, heads) = try await ports.store.read { ($0.journalHost, try $0.headsOfOthers()) }
            told.set(heads.mapValues { max(0, $0 - Int64(Self.limit)) }, besides: own)
        }
        while !Task.isCancelled {
            do {
                try await ports.patiently { try await look() }
                try await ports.clock.sleep(seconds: Self.pause)
            } catch is CancellationError {
                return
            } catch {
                log.error("what other hosts did could not be looked up", metadata: ["reason": "\(error)"])
                try await ports.clock.sleep(seconds: 5)
            }
        }
    }

    /// Publishes the entries after the last published ones.
    private func look() async throws {
        let heads = try await ports.store.read { try $0.headsOfOthers() }
        for (host, head) in heads where told.heads[host, default: 0] < head {
            try Task.checkCancellation()
            try await publish(of: host, through: head)
        }
    }

    /// Publishes entries page by page, up to `head`, which was the newest.
    private func publish(of host: String, through head: Int64) async throws {
        var place = told.heads[host, default: 0]
        while place < head, head - place <= most {
            let start = place
            let (own, rows) = try await ports.store.read { store in
                (store.journalHost, try store.reader(of: host)?.journal(after: start, limit: Self.limit) ?? [])
            }
            guard let last = rows.last, Self.isWhole(rows, after: start) else { break }
            place = last.sequence
            // Set before the events are published: a reader that gets one must not take its earlier read for complete.
            told.set([host: place], besides: own)
            hub.publish(rows.compactMap(JournalEntry.init).flatMap(AgentEvent.all).map(asItConcernsThisHost))
            // Other tasks use the store between two pages. Entries that are removed meanwhile are a gap.
            await Task.yield()
        }
        guard place < head else { return }
        let own = try await ports.store.read { $0.journalHost }
        told.set([host: head], besides: own)
        log.notice(
            "entries of another host were skipped", metadata: ["host": "\(host)", "entries": "\(head - place)"])
        hub.publish(.gap)
    }

    /// Returns whether the entries have no gap.
    private static func isWhole(_ rows: [JournalRow], after start: Int64) -> Bool {
        zip(rows, (start + 1)...).allSatisfy { $0.sequence == $1 }
    }

    /// Turns an event that fills the outbox of an enrollment of another share into `journaledElsewhere`.
    ///
    /// The host that decided sends the decision, and the host with the enrollment's share makes sure that it arrives.
    private func asItConcernsThisHost(_ event: AgentEvent) -> AgentEvent {
        guard let kind = event.kind, kind.fillsOutbox, let id = event.enrollment else { return event }
        return ports.isOurs(id) ? event : .journaledElsewhere(kind, of: id)
    }
}
