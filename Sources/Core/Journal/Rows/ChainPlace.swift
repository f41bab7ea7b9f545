import Records

/// A place in a chain of the journal, and the entries of other chains that the host had seen by then.
///
/// The clocks of the hosts do not show which entry came first. But if a chain names an entry of another chain, that
/// entry is older than the entries that follow in the naming chain.
struct ChainPlace: Sendable {
    /// The host of the chain, or empty for the only chain.
    let host: String
    /// The numbers of the newest entries of other chains that the chain names before this place.
    private(set) var seen: [String: Int64] = [:]

    init(of host: String) { self.host = host }

    mutating func follow(_ entry: JournalEntry) {
        // The chains that were named before a move no longer exist.
        if entry.kind == .moved { seen = [:] }
        for named in entry.hostsSeen ?? [] { seen[named.host] = max(named.head.sequence, seen[named.host] ?? 0) }
    }

    /// Returns whether all entries that other hosts may have written after this place are available.
    ///
    /// - Parameter starts: the number behind which each chain is available.
    func isFollowedWhole(behind starts: [String: Int64]) -> Bool {
        starts.allSatisfy { $0.key == host || $0.value <= seen[$0.key, default: 0] }
    }

    /// Returns whether this place is after these entries of other chains.
    func isBehind(_ entries: [String: Int64]) -> Bool {
        entries.allSatisfy { $0.key == host || $0.value <= seen[$0.key, default: 0] }
    }
}

/// Wrong PINs as the chains report them, by enrollment or key.
struct ChainTries<Key: CompactKey>: Sendable {
    private struct Failures: Sendable {
        let count: Int64
        let place: ChainPlace
    }

    /// The wrong PINs since the last right one in the same chain.
    private var failures: [Key: [String: Failures]] = [:]
    /// The last right PIN in each of several chains, by host; very many keys have one.
    private var rights: [String: CompactNumbers<Key>] = [:]

    var keys: [Key] { Array(failures.keys) }

    mutating func fail(_ key: Key, _ count: Int64?, at place: ChainPlace) {
        guard let count else { return }
        failures[key, default: [:]][place.host] = Failures(count: count, place: place)
    }

    /// - Parameter sequence: the number of the entry that reports the right PIN.
    mutating func clear(_ key: Key, at place: ChainPlace, _ sequence: Int64) {
        failures[key]?[place.host] = nil
        if failures[key]?.isEmpty == true { failures[key] = nil }
        guard !place.host.isEmpty else { return }
        rights[place.host, default: CompactNumbers()][key] = UInt64(clamping: sequence)
    }

    /// Discards all earlier statements of a chain.
    mutating func forget(_ host: String) {
        for key in failures.keys {
            failures[key]?[host] = nil
            if failures[key]?.isEmpty == true { failures[key] = nil }
        }
        rights[host] = nil
    }

    /// Returns the certain number of wrong PINs since the last right one, or `nil` if there may be none.
    ///
    /// - Parameter starts: the number behind which each chain is available.
    func count(_ key: Key, behind starts: [String: Int64]) -> Int64? {
        let rights = rights.compactMapValues { $0[key].map { Int64(clamping: $0) } }
        return failures[key]?.values.filter {
            $0.place.isFollowedWhole(behind: starts) && $0.place.isBehind(rights)
        }.map(\.count).max()
    }
}
