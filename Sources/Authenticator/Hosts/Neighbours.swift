import Logging

/// Tells this host's services what the other hosts of the store have written, as if it had happened here.
///
/// They tell nobody but the store (a `NOTIFY` in a decision's database transaction would hold up all hosts), so it is
/// looked at each second, by an index.
package struct Neighbours: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// Seconds between two looks.
    static let pause: Double = 1
    /// The most entries of one host that are told of at a time.
    static let limit = 1_000

    /// Works until the task is cancelled.
    package func run() async throws {
        // Each service looks at the store when it starts; what is written meanwhile may be told twice.
        var told = try await ports.patiently { try await ports.store.read { try $0.headsOfOthers() } }
            .mapValues { max(0, $0 - Int64(Self.limit)) }
        while !Task.isCancelled {
            do {
                told = try await ports.patiently { try await look(after: told) }
                try await ports.clock.sleep(seconds: Self.pause)
            } catch is CancellationError {
                return
            } catch {
                log.error("what other hosts did could not be looked up", metadata: ["reason": "\(error)"])
                try await ports.clock.sleep(seconds: 5)
            }
        }
    }

    /// Tells what came after these entries, and returns up to where it has told.
    private func look(after told: [String: Int64]) async throws -> [String: Int64] {
        let news = try await ports.store.read { store in
            try store.headsOfOthers().filter { host, head in told[host, default: 0] < head }.map { host, _ in
                (host, try store.journal(of: host, after: told[host, default: 0], limit: Self.limit))
            }
        }
        var told = told
        for (host, rows) in news {
            guard let last = rows.last else { continue }
            told[host] = last.sequence
            hub.publish(rows.compactMap(JournalEntry.init).map(AgentEvent.init).filter(concernsThisHost))
        }
        return told
    }

    /// Whoever has decided sends that itself, and whoever has the enrollment's share sees to it that it arrives.
    private func concernsThisHost(_ event: AgentEvent) -> Bool {
        guard event.kind?.fillsOutbox == true, let id = event.enrollment else { return true }
        return ports.isOurs(id)
    }
}
