/// Who has the connections of a port, by the address that they come from, and whose goes if there are too many.
///
/// A newcomer is taken, and another goes for it: one from the address with most connections, the one whose client has
/// owed a whole request for the longest. One that is being answered goes last.
struct SourceTable {
    typealias ID = Int

    private struct Entry {
        let source: Source
        /// When its client began to owe a request: a number that grows.
        var since: Int
        /// Whether its client has sent a whole request that is being answered.
        var isWhole = false
    }

    /// The most connections at a time.
    let limit: Int
    /// The most of an address that identifies one host.
    let maxOfSource: Int
    private var entries: [ID: Entry] = [:]
    private var moment = 0

    init(limit: Int, maxOfSource: Int) {
        self.limit = limit
        self.maxOfSource = maxOfSource
    }

    var count: Int { entries.count }

    /// Takes a connection in; the other is to be closed, and may be the same one.
    mutating func enter(_ source: Source) -> (entered: ID, leaving: ID?) {
        let id = nextMoment()
        entries[id] = Entry(source: source, since: id)
        var counts: [Source: Int] = [:]
        for entry in entries.values { counts[entry.source, default: 0] += 1 }
        let candidates: [ID: Entry]
        if !source.isShared, counts[source, default: 0] > maxOfSource {
            candidates = entries.filter { $0.value.source == source }
        } else if entries.count > limit {
            let largest = counts.values.max()
            candidates = entries.filter { counts[$0.value.source] == largest }
        } else {
            return (id, nil)
        }
        let leaving = candidates.min { Self.rank($0.value) < Self.rank($1.value) }?.key
        if let leaving { entries[leaving] = nil }
        return (id, leaving)
    }

    mutating func leave(_ id: ID) { entries[id] = nil }

    /// Marks a connection as one whose client has sent a whole request.
    mutating func hasWhole(_ id: ID) { entries[id]?.isWhole = true }

    /// Marks a connection as one whose client owes the next request; from now on if the last one was good.
    mutating func owes(_ id: ID, anew: Bool) {
        let moment = nextMoment()
        entries[id]?.isWhole = false
        if anew { entries[id]?.since = moment }
    }

    /// The lowest goes first.
    private static func rank(_ entry: Entry) -> (Int, Int) { (entry.isWhole ? 1 : 0, entry.since) }

    private mutating func nextMoment() -> Int {
        moment += 1
        return moment
    }
}
