import Keys

/// Reads the journal: its entries, its events, its key.
package struct Journal: Sendable {
    /// The most entries that one call returns.
    package static let maxEntries = 1_000

    let store: JournaledStore
    let hub: EventHub
    let clock: any AgentClock
    /// From how many of the newest entries events are replayed.
    let eventsKept: Int

    /// The entries after one, in their order: at most `limit`, and at most ``maxEntries``.
    package func entries(after sequence: Int64, limit: Int) async throws -> [JournalRow] {
        try await store.read { try $0.journal(after: sequence, limit: min(limit, Self.maxEntries)) }
    }

    /// The public half of the key that signs the journal's marks; nil before the first write.
    package func publicKeyPEM() async throws -> String? { try await store.publicKey()?.pem }

    /// Whether every entry is as it was written.
    package func verify() async throws -> JournalVerdict { try await JournalAudit(store: store).run() }
}

// MARK: Events

extension Journal {
    /// Where the newest entry stands: what comes after it has not happened yet.
    package func newest() async throws -> Int64 {
        try await store.read { try $0.journalMark(.head)?.point.sequence ?? 0 }
    }

    /// What the newest entry is about; nil if there is none.
    func newestKind() async throws -> JournalFact.Kind? {
        try await store.read { store in
            let newest = try store.journalMark(.head)?.point.sequence ?? 0
            return try store.journal(after: newest - 1, limit: 1).first.flatMap(JournalEntry.init)?.kind
        }
    }

    /// The events after one entry, oldest first.
    ///
    /// If entries after it are no longer kept, or it is of a future that this store does not have (it was restored
    /// from a backup), a `gap` comes first.
    package func events(after sequence: Int64) async throws -> EventPage {
        let now = clock.now
        let kept = Int64(eventsKept)
        return try await store.read { store in
            let newest = try store.journalMark(.head)?.point.sequence ?? 0
            let oldest = max(newest - kept, try store.journalMark(.floor)?.point.sequence ?? 0)
            let isGap = !(oldest...max(newest, oldest)).contains(sequence)
            let start = isGap ? (sequence > newest ? newest : oldest) : sequence
            let rows = try store.journal(after: start, limit: Int(JournalCheckpoint.restOfBlock(after: start)))
            let gap = isGap ? [JournalEvent.gap(upTo: start, at: now)] : []
            return EventPage(
                events: gap + rows.compactMap { JournalEvent($0) },
                position: rows.last?.sequence ?? start)
        }
    }

    /// The same, waiting for an event that has not happened yet; nil if none happens in `seconds`.
    ///
    /// - Parameters:
    ///   - enrollment: whose events are waited for; nil for all.
    ///   - look: gives the page of what comes after `sequence`.
    package func page<Page: Sendable>(
        after sequence: Int64, of enrollment: EnrollmentID?, waiting seconds: Double,
        looking look: @escaping @Sendable () async throws -> Page,
        reaching position: @escaping @Sendable (Page) -> Int64
    ) async throws -> Page? {
        let isTold: @Sendable (AgentEvent) -> Bool = { event in
            guard event.kind?.event != nil else { return false }
            return enrollment == nil || event.enrollment == nil || event.enrollment == enrollment
        }
        return try await hub.wait(seconds: seconds, on: clock, for: isTold) {
            let page = try await look()
            return position(page) == sequence ? nil : page
        }
    }

    /// The newest entry as of this agent's last commit; nil before the first.
    package var newestCommitted: Int64? { store.head?.sequence }
}
