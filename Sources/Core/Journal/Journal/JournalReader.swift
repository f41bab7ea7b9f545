import Keys
package import Records
import StoreTables

/// Reads the journal: its entries, its events, its key.
package struct JournalReader: Sendable {
    /// The most entries that one call returns.
    package static let maxEntries = 1_000

    let store: JournaledStore
    let hub: EventHub
    let clock: any AgentClock
    /// From how many of the newest entries of a chain events are replayed.
    let eventsKept: Int
    /// How far the other hosts' entries were told here.
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

    /// The public half of the key that signs the journal's marks; nil before the first write.
    package func publicKeyPEM() async throws -> String? { try await store.publicKey()?.pem }
}

// MARK: Events

extension JournalReader {
    /// Where the newest entry of this host's chain stands.
    package func newest() async throws -> Int64 {
        try await store.read { try $0.journalMark(.head)?.point.sequence ?? 0 }
    }

    /// Where all chains end: what comes after it has not happened yet.
    package func newestOfAll() async throws -> EventCursor { try await store.read { try EventChains($0).newest } }

    /// Sees that it is clear which place a reader means.
    ///
    /// A number alone is a place in one chain. If there are several, it is taken for one in the only chain that has come
    /// so far: so a reader goes on that was there before the second host.
    ///
    /// - Throws: `CommandError` `.invalidArgument`.
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

    /// The events after a place, of all chains; those of each chain oldest first.
    ///
    /// If entries of a chain after it are no longer kept, or it is of a future that this store does not have (it was
    /// restored from a backup), a `gap` of that chain comes first. So it does for a host that has no chain here.
    ///
    /// - Parameter limit: how many of them, or one of each chain.
    package func events(
        after cursor: EventCursor, limit: Int = Int(JournalCheckpoint.length)
    ) async throws -> EventPage {
        let (now, kept) = (clock.now, Int64(eventsKept))
        return try await store.read {
            try EventChains($0).page(after: cursor, limit: limit, kept: kept, at: now)
        }
    }

    /// The same, with the requests that they are about as they are now, of one look at the store.
    package func eventsWithRequests(
        after cursor: EventCursor, limit: Int
    ) async throws -> (page: EventPage, requests: [RequestID: FoundRequest]) {
        let (now, kept) = (clock.now, Int64(eventsKept))
        return try await store.read { store in
            let page = try EventChains(store).page(after: cursor, limit: limit, kept: kept, at: now)
            return (page, try FoundRequest.all(Set(page.events.compactMap(\.request)), in: store))
        }
    }

    /// Where all chains end as far as readers were told; nil before this agent's first commit.
    package var newestTold: EventCursor? {
        guard let head = store.head else { return nil }
        return neighbours.cursor(own: head.sequence)
    }
}
