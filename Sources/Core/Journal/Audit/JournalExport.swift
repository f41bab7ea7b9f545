package import Keys
package import Records
import StoreTables
import TextAndTime

/// A chain of the journal that has a host's name.
package struct NamedChain: Sendable {
    package let host: String
    /// The public half of its audit key, or `nil` if the key is missing or sealed under another secret.
    package let key: PublicKey?
}

/// The export of the journal, chain by chain.
extension JournalReader {
    /// Returns the chains that have a host's name, ordered by name; none if the store has only one chain.
    package func namedChains() async throws -> [NamedChain] {
        try await store.read { [hosts = store.hosts] store in
            guard let own = store.journalHost else { return [] }
            return try ([own] + store.otherHosts()).sorted().map { host in
                let reader = host == own ? store : store.reader(of: host)
                return NamedChain(host: host, key: reader.flatMap { try? hosts.key(in: $0) })
            }
        }
    }

    /// Returns the entries of one chain after a place, in order: at most `limit`, and at most ``maxEntries``.
    ///
    /// - Parameters:
    ///   - place: a number without a host is a place in that chain.
    ///   - host: the host of the chain. `nil` stands for this host.
    /// - Throws: `CommandError` `.notFound` if `host` or the place names a host that has no chain.
    package func entries(
        after place: EventCursor, of host: String? = nil, limit: Int
    ) async throws -> [JournalRow] {
        try await store.read { store in
            try Self.expectChains(of: place.hosts.filter { !$0.isEmpty } + [host].compactMap(\.self), in: store)
            let own = store.journalHost
            let reader = host == nil || host == own ? store : host.flatMap(store.reader)
            let sequence = place[""] > 0 ? place[""] : place[host ?? own ?? ""]
            return try reader?.journal(after: sequence, limit: min(limit, Self.maxEntries)) ?? []
        }
    }

    private static func expectChains(of hosts: [String], in store: StoreReading) throws {
        guard !hosts.isEmpty else { return }
        let known = try Set(store.otherHosts() + [store.journalHost].compactMap(\.self))
        guard let unknown = hosts.first(where: { !known.contains($0) }) else { return }
        throw CommandError(.notFound, "the journal has no chain of a host with the name \(DisplayText(unknown).text)")
    }
}
