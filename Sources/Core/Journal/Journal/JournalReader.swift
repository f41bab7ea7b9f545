import Keys
package import Records
import StoreTables

/// Reads the journal: its entries, its events, its key.
package struct JournalReader: Sendable {
    /// Maximum number of entries that one call returns.
    package static let maxEntries = 1_000

    let store: JournaledStore
    let hub: EventHub
    let clock: any AgentClock
    /// The number of the newest entries of a chain from which events are replayed.
    let eventsKept: Int
    /// The newest entries of the other hosts that were published here.
    let neighbours: ToldNeighbours

    package init(
        store: JournaledStore, hub: EventHub, clock: any AgentClock, eventsKept: Int, neighbours: ToldNeighbours
    ) {
        self.store = store
        self.hub = hub
        self.clock = clock
        self.eventsKept = eventsKept
        self.neighbours = neighbours
    }

    /// Returns the public half of the audit key, which signs the marks, or `nil` before the first write.
    package func publicKeyPEM() async throws -> String? { try await store.publicKey()?.pem }
}

// MARK: Events

extension JournalReader {
    /// Returns the number of the newest entry of this host's chain.
    package func newest() async throws -> Int64 {
        try await store.read { try $0.journalMark(.head)?.point.sequence ?? 0 }
    }

    /// Returns the end of all chains; later entries do not exist yet.
    package func newestOfAll() async throws -> EventCursor { try await store.read { try EventChains($0).newest } }

    /// Resolves a number without a host to a place in a named chain.
    ///
    /// If there are several chains, the number must lie in exactly one of them, the only chain that is that long. So a
    /// reader from before the second host can continue.
    ///
    /// - Throws: `CommandError` `.invalidArgument` if the chain is not clear.
    package func place(_ cursor: EventCursor) async throws -> EventCursor {
        let sequence = cursor[""]
        guard sequence > 0 else { return cursor }
        return try await store.read { store in
            let chains = try EventChains(store)
            guard chains.areSeveral else { return cursor }
            let hosts = chains.hosts(reaching: sequence)
            guard let host = hosts.first, hosts.count == 1 else {
                throw CommandError(
                    .invalidArgument,
                    "\(sequence) alone is no place among the events of several hosts: give it with its host, such as "
                        + "\(chains.own):\(sequence), or 0 for all that is kept")
            }
            var named = EventCursor.beginning
            named[host] = sequence
            return named
        }
    }

    /// Returns the events of all chains after a place, oldest first within each chain.
    ///
    /// A `gap` of a chain comes first if entries after the place are no longer kept, or if the place is after the end
    /// of the chain, as after a restore from a backup. A host that has no chain here also gets a `gap`.
    ///
    /// - Parameter limit: the maximum number of events, or one event of each chain if that is more.
    package func events(
        after cursor: EventCursor, limit: Int = Int(JournalCheckpoint.length)
    ) async throws -> EventPage {
        let (now, kept) = (clock.now, Int64(eventsKept))
        return try await store.read {
            try EventChains($0).page(after: cursor, limit: limit, kept: kept, at: now)
        }
    }

    /// Returns the same events with the present state of their requests, from one read of the store.
    package func eventsWithRequests(
        after cursor: EventCursor, limit: Int
    ) async throws -> (page: EventPage, requests: [RequestID: FoundRequest]) {
        let (now, kept) = (clock.now, Int64(eventsKept))
        return try await store.read { store in
            let page = try EventChains(store).page(after: cursor, limit: limit, kept: kept, at: now)
            return (page, try FoundRequest.all(Set(page.events.compactMap(\.request)), in: store))
        }
    }

    /// The end of all chains as published to readers, or `nil` before this agent's first commit.
    package var newestTold: EventCursor? {
        guard let head = store.head else { return nil }
        return neighbours.cursor(own: head.sequence)
    }
}
