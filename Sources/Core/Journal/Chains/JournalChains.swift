import Keys
import Records
import StoreTables

/// Where all chains of the journal end, as of one moment.
struct JournalMoment: Sendable {
    /// Where a chain ends.
    struct End: Sendable {
        /// Empty for the only chain.
        let host: String
        let head: JournalMark?
        /// Behind which number its kept entries begin, as nobody vouches for; 0 if none was removed for its age.
        let start: Int64
        /// An entry behind the head: somebody has put it in.
        let behind: JournalRow?
        /// Nil if it is not there, or under another secret.
        let key: PublicKey?
        /// SHA-256 of the key; empty if there is none.
        let keyDigest: [UInt8]
    }

    /// That of the host that looks, first.
    let chains: [End]

    /// - Parameter own: the key of the host that looks; nil if it has none.
    init(_ store: StoreReading, _ hosts: JournalHosts, own: PublicKey?) throws {
        let others = try store.otherHosts()
        let name = others.isEmpty ? "" : store.journalHost ?? ""
        var chains = [try End(name, store, own)]
        for other in others {
            // A name that no host can have has no chain that could be followed, which its missing head says.
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

/// What chains say of each other, held against them within one read.
struct NamedChains {
    let reader: StoreReading
    let ends: [String: JournalMoment.End]
    /// The number of entries that are read at once.
    private static let window = 256

    /// Entries that were read last, by host: names go up, mostly.
    private var windows: [String: [JournalRow]] = [:]

    init(_ reader: StoreReading, _ ends: [String: JournalMoment.End]) {
        self.reader = reader
        self.ends = ends
    }

    /// What is wrong with a chain by what another host has seen of it; nil if nothing is.
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
        // What is missing in the middle, or was removed for its age, the chain itself says.
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
