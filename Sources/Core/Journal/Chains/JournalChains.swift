import Keys
import Records
import StoreTables

/// The ends of all chains of the journal, as of one moment.
struct JournalMoment: Sendable {
    /// The end of one chain.
    struct End: Sendable {
        /// The host's name, or empty for the only chain.
        let host: String
        let head: JournalMark?
        /// The number behind which the kept entries begin; 0 if no entry was removed because of its age.
        ///
        /// Its signature has not been verified.
        let start: Int64
        /// An entry behind the head, which must have been inserted.
        let behind: JournalRow?
        /// `nil` if the key is missing or sealed under another secret.
        let key: PublicKey?
        /// SHA-256 of the key; empty without a key.
        let keyDigest: [UInt8]
    }

    /// The ends, beginning with this host's chain.
    let chains: [End]

    /// - Parameter own: this host's key, or `nil` if it has none.
    init(_ store: StoreReading, _ hosts: JournalHosts, own: PublicKey?) throws {
        let others = try store.otherHosts()
        let name = others.isEmpty ? "" : store.journalHost ?? ""
        var chains = [try End(name, store, own)]
        for other in others {
            // If the name is not valid, the host has no chain to verify. Its missing head reports that.
            let reader = store.reader(of: other)
            chains.append(try reader.map { try End(other, $0, try? hosts.key(in: $0)) } ?? End(other))
        }
        self.chains = chains
    }
}

extension JournalMoment.End {
    fileprivate init(_ host: String, _ reader: StoreReading, _ key: PublicKey?) throws {
        let head = try reader.journalMark(.head)
        self.init(
            host: host, head: head, start: try reader.journalMark(.floor)?.point.sequence ?? 0,
            behind: try reader.journal(after: head?.point.sequence ?? 0, limit: 1).first,
            key: key, keyDigest: try key.map { try SHA256Digest.of($0.subjectPublicKeyInfo) } ?? [])
    }

    fileprivate init(_ host: String) {
        self.init(host: host, head: nil, start: 0, behind: nil, key: nil, keyDigest: [])
    }
}

/// Compares the statements of chains about each other with the chains, within one read.
struct NamedChains {
    let reader: StoreReading
    let ends: [String: JournalMoment.End]
    /// The number of entries that one query reads.
    private static let window = 256

    /// The entries read last, by host; the named entries mostly have ascending numbers.
    private var windows: [String: [JournalRow]] = [:]

    init(_ reader: StoreReading, _ ends: [String: JournalMoment.End]) {
        self.reader = reader
        self.ends = ends
    }

    /// Returns the fault that another host's entry shows in a chain, or `nil` if there is none.
    mutating func fault(of seen: SeenHost, by witness: String) throws -> JournalError? {
        let number = seen.head.sequence
        guard let end = ends[seen.host], let head = end.head?.point else {
            return fault(seen, 1, "is missing: host \(witness) has seen the chain up to entry \(number)")
        }
        guard end.key == nil || end.keyDigest == seen.key else {
            return fault(seen, 1, "is under another audit key than the one that host \(witness) has certified")
        }
        guard number <= head.sequence else {
            return fault(
                seen, head.sequence + 1, "is missing: host \(witness) has seen the chain up to entry \(number)")
        }
        // The chain's own audit finds entries that are missing in the middle or were removed because of their age.
        guard let row = try row(number, of: seen.host), try SHA256Digest.of(row.bytes) != seen.head.digest else {
            return nil
        }
        return fault(seen, number, "is not the one that host \(witness) has seen: the chain was replaced")
    }

    private func fault(_ seen: SeenHost, _ sequence: Int64, _ problem: String) -> JournalError {
        JournalError(host: seen.host, sequence: sequence, problem: problem)
    }

    private mutating func row(_ sequence: Int64, of host: String) throws -> JournalRow? {
        if let row = windows[host]?.first(where: { $0.sequence == sequence }) { return row }
        guard let chain = reader.reader(of: host) else { return nil }
        let rows = try chain.journal(after: sequence - 1, limit: Self.window)
        windows[host] = rows
        return rows.first.flatMap { $0.sequence == sequence ? $0 : nil }
    }
}
