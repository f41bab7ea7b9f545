import IssuerProtocol
import Records

/// Cache of issuers' discovery documents and keys, bounded in bytes.
///
/// Past the bound, the least recently used entries are dropped, and fetched again when they are needed.
actor IssuerDirectory {
    private struct Entry {
        let discovery: Discovery
        let discoveredAt: Int64
        var keys: JWKSet?
        var keysFetchedAt: Int64 = .min
        /// The time of the last fetch of keys for an unknown `kid`.
        ///
        /// `nil` before the first.
        var askedForUnknownAt: Int64?
        /// A number that grows with each use.
        var lastUse = 0

        /// Estimates the memory of the texts and keys in bytes, rounded up.
        func bytes(of target: IssuerTarget) -> Int {
            IssuerDirectory.bytesOfEntry + (target.rootsPEM?.utf8.count ?? 0)
                + (keys.map { $0.count + $0.ignored.count } ?? 0) * IssuerDirectory.bytesOfKey
        }
    }

    /// The most bytes in all: enough for a thousand issuers with ten keys each.
    private static let maxBytes = 33_554_432
    /// The bytes of an entry without keys: eight addresses of up to 2,048 bytes each.
    private static let bytesOfEntry = 16_384
    /// The bytes of a key and its `kid`, or of the record of an ignored key.
    private static let bytesOfKey = 1_024
    /// The seconds for which keys and discovery are fresh: a day.
    private static let freshFor: Int64 = 86_400
    /// The seconds between two fetches of keys for an unknown `kid`, not counting the first.
    static let unknownKeyPause: Int64 = 60

    private let gateway: any IssuerGateway
    private let clock: any AgentClock
    private let discoveries = SharedCall<IssuerTarget, Discovery>()
    private let keySets = SharedCall<IssuerTarget, JWKSet>()
    private let maxBytes: Int
    private var entries: [IssuerTarget: Entry] = [:]
    private var bytes = 0
    private var uses = 0
    /// The number of callers that wait for an issuer's keys.
    private var keyWaiters: [IssuerTarget: Int] = [:]

    init(gateway: any IssuerGateway, clock: any AgentClock, maxBytes: Int = IssuerDirectory.maxBytes) {
        self.gateway = gateway
        self.clock = clock
        self.maxBytes = maxBytes
    }

    /// The number of known issuers.
    var count: Int { entries.count }

    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        if let entry = used(target), clock.now.isWithin(Self.freshFor, of: entry.discoveredAt) {
            return entry.discovery
        }
        let gateway = gateway
        let discovery = try await discoveries.value(for: target) { () async throws(IssuerError) in
            try await gateway.discovery(target)
        }
        let old = entries[target]
        keep(
            Entry(
                discovery: discovery, discoveredAt: clock.now, keys: old?.keys,
                keysFetchedAt: old?.keysFetchedAt ?? .min, askedForUnknownAt: old?.askedForUnknownAt),
            for: target)
        return discovery
    }

    /// Returns an issuer's entry, and marks it as used now.
    private func used(_ target: IssuerTarget) -> Entry? {
        uses += 1
        entries[target]?.lastUse = uses
        return entries[target]
    }

    /// Stores an entry, and drops the least recently used ones until all are within the bound.
    private func keep(_ entry: Entry, for target: IssuerTarget) {
        forget(target)
        uses += 1
        var entry = entry
        entry.lastUse = uses
        entries[target] = entry
        bytes += entry.bytes(of: target)
        while bytes > maxBytes, entries.count > 1, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            forget(oldest.key)
        }
    }

    private func forget(_ target: IssuerTarget) {
        bytes -= entries.removeValue(forKey: target)?.bytes(of: target) ?? 0
    }

    /// The number of callers that wait for an issuer's discovery while another one fetches it.
    nonisolated func discoveryWaiterCount(_ target: IssuerTarget) -> Int { discoveries.waiterCount(for: target) }

    /// The number of callers that wait for an issuer's keys while another one fetches them.
    nonisolated func keyWaiterCount(_ target: IssuerTarget) -> Int { keySets.waiterCount(for: target) }

    func keys(_ target: IssuerTarget) async throws(IssuerError) -> JWKSet {
        if let entry = used(target), let keys = entry.keys, isFresh(entry) { return keys }
        return try await fetchKeys(target)
    }

    /// Returns the keys for a new enrollment.
    ///
    /// A set without a usable key is fetched again, because the issuer may have corrected it.
    func keysForEnrolling(_ target: IssuerTarget) async throws(IssuerError) -> JWKSet {
        let keys = used(target)?.keys
        return keys?.emptiness == nil ? try await self.keys(target) : try await fetchKeys(target)
    }

    /// Returns the keys to try for a `kid` that is not in the cached set.
    ///
    /// They are fetched for it. If it is too soon to fetch again, they are the keys of the last fetch.
    func keysForUnknown(_ target: IssuerTarget) async throws(IssuerError) -> JWKSet? {
        if let asked = entries[target]?.askedForUnknownAt, clock.now.isWithin(Self.unknownKeyPause, of: asked) {
            return keyWaiters[target] != nil ? try await fetchKeys(target) : entries[target]?.keys
        }
        entries[target]?.askedForUnknownAt = clock.now
        return try await fetchKeys(target)
    }

    private func isFresh(_ entry: Entry) -> Bool {
        entry.keysFetchedAt != .min && clock.now.isWithin(Self.freshFor, of: entry.keysFetchedAt)
    }

    private func fetchKeys(_ target: IssuerTarget) async throws(IssuerError) -> JWKSet {
        let discovery = try await discovery(target)
        keyWaiters[target, default: 0] += 1
        defer {
            let others = keyWaiters[target, default: 1] - 1
            keyWaiters[target] = others > 0 ? others : nil
        }
        let gateway = gateway
        let keys = try await keySets.value(for: target) { () async throws(IssuerError) in
            try await gateway.keys(target, discovery)
        }
        // While the keys were fetched, the entry may have been dropped: then only this caller gets them.
        if var entry = entries[target] {
            (entry.keys, entry.keysFetchedAt) = (keys, clock.now)
            keep(entry, for: target)
        }
        return keys
    }
}
