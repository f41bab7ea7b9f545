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
    private let discoveries = SharedCall<IssuerRoute, Discovery>()
    private let keySets = SharedCall<IssuerRoute, JWKSet>()
    private var entries: [IssuerRoute: Entry] = [:]
    /// How many wait for the keys of an issuer.
    private var keyWaiters: [IssuerRoute: Int] = [:]

    init(gateway: any IssuerGateway, clock: any AgentClock) {
        self.gateway = gateway
        self.clock = clock
    }

    func discovery(_ route: IssuerRoute) async throws(IssuerFailure) -> Discovery {
        if let entry = entries[route], clock.now.isWithin(Self.freshFor, of: entry.discoveredAt) {
            return entry.discovery
        }
        let gateway = gateway
        let discovery = try await discoveries.value(for: route) { () async throws(IssuerFailure) in
            try await gateway.discovery(route)
        }
        let old = entries[route]
        entries[route] = Entry(
            discovery: discovery, discoveredAt: clock.now, keys: old?.keys,
            keysFetchedAt: old?.keysFetchedAt ?? .min, askedForUnknownAt: old?.askedForUnknownAt)
        return discovery
    }

    /// How many wait for an issuer's discovery that another fetches.
    nonisolated func discoveryWaiterCount(_ route: IssuerRoute) -> Int { discoveries.waiterCount(for: route) }

    func keys(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet {
        if let entry = entries[route], let keys = entry.keys, isFresh(entry) { return keys }
        return try await fetchKeys(route)
    }

    /// Keys to try where a `kid` is not among those at hand: fetched for it, or where it is too soon to ask again, the
    /// ones that were fetched last.
    func keysForUnknown(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet? {
        if let asked = entries[route]?.askedForUnknownAt, clock.now.isWithin(Self.unknownKeyPause, of: asked) {
            return keyWaiters[route] != nil ? try await fetchKeys(route) : entries[route]?.keys
        }
        entries[route]?.askedForUnknownAt = clock.now
        return try await fetchKeys(route)
    }

    private func isFresh(_ entry: Entry) -> Bool {
        entry.keysFetchedAt != .min && clock.now.isWithin(Self.freshFor, of: entry.keysFetchedAt)
    }

    private func fetchKeys(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet {
        let discovery = try await discovery(route)
        keyWaiters[route, default: 0] += 1
        defer {
            let others = keyWaiters[route, default: 1] - 1
            keyWaiters[route] = others > 0 ? others : nil
        }
        let gateway = gateway
        let keys = try await keySets.value(for: route) { () async throws(IssuerFailure) in
            try await gateway.keys(route, discovery)
        }
        entries[route]?.keys = keys
        entries[route]?.keysFetchedAt = clock.now
        return keys
    }
}
