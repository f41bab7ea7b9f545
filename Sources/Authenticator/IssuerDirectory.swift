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
    private var entries: [IssuerRoute: Entry] = [:]

    init(gateway: any IssuerGateway, clock: any AgentClock) {
        self.gateway = gateway
        self.clock = clock
    }

    func discovery(_ route: IssuerRoute) async throws(IssuerFailure) -> Discovery {
        if let entry = entries[route], clock.now - entry.discoveredAt < Self.freshFor { return entry.discovery }
        let discovery = try await gateway.discovery(route)
        let old = entries[route]
        entries[route] = Entry(
            discovery: discovery, discoveredAt: clock.now, keys: old?.keys,
            keysFetchedAt: old?.keysFetchedAt ?? .min, askedForUnknownAt: old?.askedForUnknownAt)
        return discovery
    }

    func keys(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet {
        if let entry = entries[route], let keys = entry.keys, isFresh(entry) { return keys }
        return try await fetchKeys(route)
    }

    /// Keys fetched because of a `kid` that is not among them; nil where it is too soon to ask again.
    func keysForUnknown(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet? {
        if let asked = entries[route]?.askedForUnknownAt, clock.now - asked < Self.unknownKeyPause { return nil }
        entries[route]?.askedForUnknownAt = clock.now
        return try await fetchKeys(route)
    }

    private func isFresh(_ entry: Entry) -> Bool {
        entry.keysFetchedAt != .min && clock.now - entry.keysFetchedAt < Self.freshFor
    }

    private func fetchKeys(_ route: IssuerRoute) async throws(IssuerFailure) -> JWKSet {
        let keys = try await gateway.keys(route, try await discovery(route))
        entries[route]?.keys = keys
        entries[route]?.keysFetchedAt = clock.now
        return keys
    }
}
