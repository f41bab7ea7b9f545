import Logging
import Synchronization

/// Tells this host's services what the other hosts of the store have written, as if it had happened here.
///
/// They tell nobody but the store (a `NOTIFY` in a decision's database transaction would hold up all hosts), so it is
/// looked at each second, by an index.
package struct Neighbours: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger
    let told: ToldNeighbours

    /// Seconds between two looks.
    static let pause: Double = 1
    /// The most entries of one host that are told of at a time.
    static let limit = 1_000

    /// Works until the task is cancelled.
    package func run() async throws {
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
        let heads = told.heads
        let (own, news) = try await ports.store.read { store in
            let news = try store.headsOfOthers().filter { host, head in heads[host, default: 0] < head }
            return (
                store.journalHost,
                try news.map { host, _ in
                    (host, try store.journal(of: host, after: heads[host, default: 0], limit: Self.limit))
                }
            )
        }
        for (host, rows) in news {
            guard let last = rows.last else { continue }
            // First, so that no reader who is told takes what was looked up before for all that there is.
            told.set([host: last.sequence], besides: own)
            hub.publish(rows.compactMap(JournalEntry.init).map(AgentEvent.init).map(asItConcernsThisHost))
        }
    }

    /// Whoever has decided sends that itself, and whoever has the enrollment's share sees to it that it arrives.
    private func asItConcernsThisHost(_ event: AgentEvent) -> AgentEvent {
        guard let kind = event.kind, kind.fillsOutbox, let id = event.enrollment else { return event }
        return ports.isOurs(id) ? event : .journaledElsewhere(kind, of: id)
    }
}

/// How far the entries of the other hosts were told to those who listen here.
final class ToldNeighbours: Sendable {
    private struct State {
        var own = ""
        var heads: [String: Int64] = [:]
        /// The same of the hosts whose events readers are told.
        var cursor = EventCursor.beginning
    }

    private let state = Mutex(State())

    /// By host.
    var heads: [String: Int64] { state.withLock(\.heads) }

    /// - Parameter own: this host's name.
    func set(_ heads: [String: Int64], besides own: String?) {
        state.withLock { state in
            state.heads.merge(heads) { $1 }
            state.own = state.heads.isEmpty ? "" : own ?? ""
            state.cursor = .beginning
            for host in EventCursor.hosts(Array(state.heads.keys), besides: state.own) {
                state.cursor[host] = state.heads[host] ?? 0
            }
        }
    }

    /// The same for readers, and how far this host has come.
    func cursor(own sequence: Int64) -> EventCursor {
        state.withLock { state in
            var cursor = state.cursor
            cursor[state.own] = sequence
            return cursor
        }
    }
}
