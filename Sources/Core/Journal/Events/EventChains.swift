import Records
import StoreTables
import ThreeDS

/// The chains of the journal for a reader of events, within one read of the store.
struct EventChains {
    fileprivate struct Chain {
        /// The host's name, or empty for the only chain.
        let host: String
        let reader: StoreReading
        let newest: Int64
    }

    /// The chains, this host's first.
    private let chains: [Chain]
    /// This host's name, even if it has the only chain, or `nil` if the store has no host names.
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

    /// The name of this host's chain in a cursor.
    var own: String { chains.first?.host ?? "" }

    /// The end of all chains; later entries do not exist yet.
    var newest: EventCursor {
        chains.reduce(into: .beginning) { $0[$1.host] = $1.newest }
    }

    /// Returns the hosts whose chains have reached this number.
    func hosts(reaching sequence: Int64) -> [String] { chains.filter { $0.newest >= sequence }.map(\.host) }

    /// Resolves a cursor to the present names of the chains, and returns the hosts that have no chain.
    private func resolved(_ cursor: EventCursor) -> (cursor: EventCursor, unknown: [String]) {
        var (resolved, unknown): (EventCursor, [String]) = (.beginning, [])
        let known = Set(chains.map(\.host))
        for host in cursor.hosts {
            // A chain that is or was the only one is this host's.
            let name = host.isEmpty || host == ownName ? own : host
            guard known.contains(name) else {
                unknown.append(host)
                continue
            }
            resolved[name] = cursor[host]
        }
        return (resolved, unknown)
    }

    /// Returns the events after a place, in order within each chain.
    ///
    /// Each chain has an equal part of the page, and at least one event, so that no chain delays another.
    ///
    /// - Parameters:
    ///   - limit: the most events, or one of each chain if more chains than that have some. A `gap` for a host without
    ///     a chain does not count.
    ///   - kept: the number of the newest entries of a chain from which events are replayed.
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
    /// Maximum number of entries of a chain that one page reads.
    private static let window = 256

    /// Reads the next events of the chain.
    ///
    /// A `gap` comes first if entries after the place are no longer kept, or if the place is after the end of this
    /// chain.
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

/// A page of events, and the position that it reaches.
package struct EventPage: Sendable {
    package private(set) var events: [JournalEvent]
    /// The end of the entries that were read; the next page begins here.
    package fileprivate(set) var position: EventCursor

    /// Adds an event at the present position of the page.
    fileprivate mutating func append(_ event: JournalEvent, of host: String) {
        var event = event
        (event.host, event.cursor) = (host, position)
        events.append(event)
    }
}
