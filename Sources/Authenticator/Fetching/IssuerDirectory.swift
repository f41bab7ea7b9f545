import IssuerProtocol

/// What issuers publish about themselves, kept in memory: discovery and keys, each belonging to one issuer.
actor IssuerDirectory {
    private struct Entry {
        let discovery: Discovery
        let discoveredAt: Int64
        var keys: JWKSet?
        var keysFetchedAt: Int64 = .min
        /// When keys were last asked for because of an unknown `kid`; nil before the first time.
        var askedForUnknownAt: Int64?
    }

    /// Keys and discovery are fetched anew once a day.
    private static let freshFor: Int64 = 86_400
    /// For unknown key ids, keys are fetched once a minute at most, not counting the first.
    static let unknownKeyPause: Int64 = 60

    private let gateway: any IssuerGateway
    private let clock: any AgentClock
    private let discoveries = SharedCall<IssuerTarget, Discovery>()
    private let keySets = SharedCall<IssuerTarget, JWKSet>()
    private var entries: [IssuerTarget: Entry] = [:]
    /// How many wait for the keys of an issuer.
    private var keyWaiters: [IssuerTarget: Int] = [:]

    init(gateway: any IssuerGateway, clock: any AgentClock) {
        self.gateway = gateway
        self.clock = clock
    }

    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        if let entry = entries[target], clock.now.isWithin(Self.freshFor, of: entry.discoveredAt) {
            return entry.discovery
        }
        let gateway = gateway
        let discovery = try await discoveries.value(for: target) { () async throws(IssuerError) in
            try await gateway.discovery(target)
        }
        let old = entries[target]
        entries[target] = Entry(
            discovery: discovery, discoveredAt: clock.now, keys: old?.keys,
            keysFetchedAt: old?.keysFetchedAt ?? .min, askedForUnknownAt: old?.askedForUnknownAt)
        return discovery
    }

    /// How many wait for an issuer's discovery that another fetches.
    nonisolated func discoveryWaiterCount(_ target: IssuerTarget) -> Int { discoveries.waiterCount(for: target) }

    func keys(_ target: IssuerTarget) async throws(IssuerError) -> JWKSet {
        if let entry = entries[target], let keys = entry.keys, isFresh(entry) { return keys }
        return try await fetchKeys(target)
    }

    /// Keys to try for a `kid` that is not among those at hand.
    ///
    /// They are fetched for it; if it is too soon to ask again, they are the ones that were fetched last.
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
        entries[target]?.keys = keys
        entries[target]?.keysFetchedAt = clock.now
        return keys
    }
}
