import Journal
import Logging
import Records
import StoreTables

/// Tells this host's services what the other hosts of the store have written, as if it had happened here.
///
/// They tell nobody but the store (a `NOTIFY` in a decision's database transaction would hold up all hosts), so it is
/// looked at each second, by an index. It makes work known early and no more: a host that was paused may find entries gone
/// for their age, or more than it reads. Then it says ``AgentEvent/gap``, goes on at the end, and the ``PeriodicLook``
/// finds the work.
struct Neighbours: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger
    let told: ToldNeighbours
    /// The most entries of one host that are told of in one look; what is more is skipped, so that no host is behind for
    /// longer than a look.
    var most: Int64 = 20_000

    /// Seconds between two looks.
    static let pause: Double = 1
    /// The most entries of one host that are told of at a time.
    static let limit = 1_000

    /// Works until the task is cancelled.
    func run() async throws {
        // Each service looks at the store when it starts; what is written meanwhile may be told twice.
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

    /// Tells what came after what was told.
    private func look() async throws {
        let heads = try await ports.store.read { try $0.headsOfOthers() }
        for (host, head) in heads where told.heads[host, default: 0] < head {
            try Task.checkCancellation()
            try await tell(of: host, through: head)
        }
    }

    /// Tells page by page, up to an entry that was the newest.
    private func tell(of host: String, through head: Int64) async throws {
        var place = told.heads[host, default: 0]
        while place < head, head - place <= most {
            let start = place
            let (own, rows) = try await ports.store.read { store in
                (store.journalHost, try store.reader(of: host)?.journal(after: start, limit: Self.limit) ?? [])
            }
            guard let last = rows.last, Self.isWhole(rows, after: start) else { break }
            place = last.sequence
            // First, so that no reader who is told takes what was looked up before for all that there is.
            told.set([host: place], besides: own)
            hub.publish(rows.compactMap(JournalEntry.init).flatMap(AgentEvent.all).map(asItConcernsThisHost))
            // Others have the store between two pages; entries that are removed meanwhile are a gap.
            await Task.yield()
        }
        guard place < head else { return }
        let own = try await ports.store.read { $0.journalHost }
        told.set([host: head], besides: own)
        log.notice(
            "entries of another host were skipped", metadata: ["host": "\(host)", "entries": "\(head - place)"])
        hub.publish(.gap)
    }

    /// Whether none is missing between.
    private static func isWhole(_ rows: [JournalRow], after start: Int64) -> Bool {
        zip(rows, (start + 1)...).allSatisfy { $0.sequence == $1 }
    }

    /// Whoever has decided sends that itself, and whoever has the enrollment's share sees to it that it arrives.
    private func asItConcernsThisHost(_ event: AgentEvent) -> AgentEvent {
        guard let kind = event.kind, kind.fillsOutbox, let id = event.enrollment else { return event }
        return ports.isOurs(id) ? event : .journaledElsewhere(kind, of: id)
    }
}
