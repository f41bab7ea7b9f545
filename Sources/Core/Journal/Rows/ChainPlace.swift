import Records

/// A place in one of the chains of the journal, and how far the host had seen the others by then.
///
/// Hosts' clocks say nothing about what came first. But an entry that a chain names came before those behind the name.
struct ChainPlace: Sendable {
    /// Whose chain it is; empty if there is one.
    let host: String
    /// The numbers of the newest entries of others that the chain names before it.
    private(set) var seen: [String: Int64] = [:]

    init(of host: String) { self.host = host }

    mutating func follow(_ entry: JournalEntry) {
        // The chains that it has named before are not there any more.
        if entry.kind == .moved { seen = [:] }
        for named in entry.hostsSeen ?? [] { seen[named.host] = max(named.head.sequence, seen[named.host] ?? 0) }
    }

    /// Whether everything that other hosts may have written after it is there.
    ///
    /// - Parameter starts: behind which number each chain is there.
    func isFollowedWhole(behind starts: [String: Int64]) -> Bool {
        starts.allSatisfy { $0.key == host || $0.value <= seen[$0.key, default: 0] }
    }

    /// Whether it comes after entries of other chains.
    func isBehind(_ entries: [String: Int64]) -> Bool {
        entries.allSatisfy { $0.key == host || $0.value <= seen[$0.key, default: 0] }
    }
}

/// Wrong PINs as chains tell of them, by whom they count for.
struct ChainTries<Key: CompactKey>: Sendable {
    private struct Failures: Sendable {
        let count: Int64
        let place: ChainPlace
    }

    /// Since the last right one in the same chain.
    private var failures: [Key: [String: Failures]] = [:]
    /// The last right one in each of several chains, by host: very many keys have one.
    private var rights: [String: CompactNumbers<Key>] = [:]

    var keys: [Key] { Array(failures.keys) }

    mutating func fail(_ key: Key, _ count: Int64?, at place: ChainPlace) {
        guard let count else { return }
        failures[key, default: [:]][place.host] = Failures(count: count, place: place)
    }

    /// - Parameter sequence: of the entry that says so.
    mutating func clear(_ key: Key, at place: ChainPlace, _ sequence: Int64) {
        failures[key]?[place.host] = nil
        if failures[key]?.isEmpty == true { failures[key] = nil }
        guard !place.host.isEmpty else { return }
        rights[place.host, default: CompactNumbers()][key] = UInt64(clamping: sequence)
    }

    /// What a chain has said before does not count any more.
    mutating func forget(_ host: String) {
        for key in failures.keys {
            failures[key]?[host] = nil
            if failures[key]?.isEmpty == true { failures[key] = nil }
        }
        rights[host] = nil
    }

    /// How many there have been for certain since the last right one; nil if there may have been none.
    ///
    /// - Parameter starts: behind which number each chain is there.
    func count(_ key: Key, behind starts: [String: Int64]) -> Int64? {
        let rights = rights.compactMapValues { $0[key].map { Int64(clamping: $0) } }
        return failures[key]?.values.filter {
            $0.place.isFollowedWhole(behind: starts) && $0.place.isBehind(rights)
        }.map(\.count).max()
    }
}
