import Records
import StoreTables
import ThreeDS

/// The chains of the journal as a reader of events has them, within one read of the store.
struct EventChains {
    fileprivate struct Chain {
        /// Empty for the only chain.
        let host: String
        let reader: StoreReading
        let newest: Int64
    }

    /// This host's first.
    private let chains: [Chain]
    /// This host's name, also if its chain is the only one; nil if the store has but one.
    private let ownName: String?

    init(_ store: StoreReading) throws {
        let others = try store.headsOfOthers()
        ownName = store.journalHost
        let name = others.isEmpty ? "" : ownName ?? ""
        var chains = [
            Chain(host: name, reader: store, newest: try store.journalMark(.head)?.point.sequence ?? 0)
        ]
        for host in EventCursor.hosts(Array(others.keys), besides: name) {
            guard let newest = others[host], let reader = store.reader(of: host) else { continue }
            chains.append(Chain(host: host, reader: reader, newest: newest))
        }
        self.chains = chains
    }

    var areSeveral: Bool { chains.count > 1 }

    /// The name under which a reader finds the chain of the host that is asked.
    var own: String { chains.first?.host ?? "" }

    /// Where all of them end: what comes after it has not happened yet.
    var newest: EventCursor {
        chains.reduce(into: .beginning) { $0[$1.host] = $1.newest }
    }

    /// The hosts whose chains have come as far as this.
    func hosts(reaching sequence: Int64) -> [String] { chains.filter { $0.newest >= sequence }.map(\.host) }

    /// The same place by the names that chains have now, and the hosts of which there is no chain.
    private func resolved(_ cursor: EventCursor) -> (cursor: EventCursor, unknown: [String]) {
        var (resolved, unknown): (EventCursor, [String]) = (.beginning, [])
        let known = Set(chains.map(\.host))
        for host in cursor.hosts {
            // One that was the only chain, or is now, is this host's.
            let name = host.isEmpty || host == ownName ? own : host
            guard known.contains(name) else {
                unknown.append(host)
                continue
            }
            resolved[name] = cursor[host]
        }
        return (resolved, unknown)
    }

    /// The events after a place, those of each chain in their order.
    ///
    /// Of each chain it has the same part, so that none holds up another, and an event at least.
    ///
    /// - Parameters:
    ///   - limit: how many events, as long as there are fewer chains that have some.
    ///   - kept: from how many of the newest entries of a chain events are replayed.
    func page(after cursor: EventCursor, limit: Int, kept: Int64, at now: Int64) throws -> EventPage {
        let (start, unknown) = resolved(cursor)
        var page = EventPage(events: [], position: start)
        for host in unknown { page.append(.gap(upTo: 0, at: now), of: host) }
        let news = areSeveral ? chains.filter { $0.newest != start[$0.host] } : chains
        let each = max(1, limit / max(1, news.count))
        for chain in news { try chain.read(into: &page, limit: each, kept: kept, at: now) }
        return page
    }
}

extension EventChains.Chain {
    /// The most entries of a chain that a page looks at.
    private static let window = 256

    /// If entries after the place are no longer kept, or it is of a future that this chain does not have, a `gap` is first.
    fileprivate func read(into page: inout EventPage, limit: Int, kept: Int64, at now: Int64) throws {
        let sequence = page.position[host]
        let oldest = max(newest - kept, try reader.journalMark(.floor)?.point.sequence ?? 0)
        let isGap = !(oldest...max(newest, oldest)).contains(sequence)
        let start = isGap ? (sequence > newest ? newest : oldest) : sequence
        var left = limit
        if isGap {
            page.position[host] = start
            page.append(.gap(upTo: start, at: now), of: host)
            left -= 1
        }
        let rows = try reader.journal(after: start, limit: Self.window)
        for row in rows {
            guard let event = JournalEvent(row) else { continue }
            guard left > 0 else { return }
            page.position[host] = event.sequence
            page.append(event, of: host)
            left -= 1
        }
        page.position[host] = rows.last?.sequence ?? start
    }
}

/// Some events, and how far they reach.
package struct EventPage: Sendable {
    package private(set) var events: [JournalEvent]
    /// Up to where all was looked at: where the next page begins.
    package fileprivate(set) var position: EventCursor

    /// Adds an event at which the page is now.
    fileprivate mutating func append(_ event: JournalEvent, of host: String) {
        var event = event
        (event.host, event.cursor) = (host, position)
        events.append(event)
    }
}
