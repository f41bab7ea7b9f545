/// The newest entries of all chains, as a host finds them before its first write.
struct NewestChains {
    /// How many of one chain are read, and of all others together.
    private static let (ofOne, ofOthers): (Int64, Int64) = (1_000, 8_000)

    private let hosts: JournalHosts
    /// Empty if there is one chain.
    private let host: String
    /// Those of this host's chain.
    private let own: [JournalEntry]
    /// Those of others that are as they were signed: a chain that is not says nothing.
    private let others: [(host: String, entries: [JournalEntry])]

    /// - Parameter own: the newest of this host's, which were held against its head.
    init(_ store: any StoreReader, _ own: [JournalEntry], _ hosts: JournalHosts) throws {
        self.hosts = hosts
        self.own = own
        let names = try store.otherHosts()
        host = names.isEmpty ? "" : store.journalHost ?? ""
        let each = min(Self.ofOne, Self.ofOthers / Int64(max(1, names.count)))
        others = try names.compactMap { name in
            guard let reader = store.reader(of: name) else { return nil }
            do {
                let marks = try JournalMarks(reader)
                try marks.expectSigned(by: hosts.key(in: reader))
                return (name, try marks.expectNewestEntries(each, of: reader))
            } catch is ForgedJournalError {
                return nil
            }
        }
    }

    /// Sees that no other host has seen more of this host's chain than there is.
    func expectNoneKnowsMore(than head: JournalPoint, of store: any StoreReader) throws(ForgedJournalError) {
        guard let name = store.journalHost else { return }
        for (host, entries) in others {
            for entry in entries.reversed() {
                // Before that it speaks of the chains of another database.
                if entry.kind == .moved { break }
                guard let seen = entry.hostsSeen?.first(where: { $0.host == name }) else { continue }
                guard seen.head.sequence > head.sequence else { continue }
                throw ForgedJournalError(
                    "it ends with entry \(head.sequence), and host \(host) has seen entry \(seen.head.sequence)")
            }
        }
    }

    /// What they say about wrong PINs.
    private var tries: JournaledPINTries {
        var tries = JournaledPINTries()
        for (host, entries) in [(host, own)] + others {
            var place = ChainPlace(of: host)
            for entry in entries {
                tries.follow(entry, at: place)
                place.follow(entry)
            }
            tries.begin(host, behind: (entries.first?.sequence ?? 1) - 1)
        }
        return tries
    }

    /// A count of wrong PINs that was set back while no agent ran is what it was.
    func putTriesBack(in store: any StoreWriter, at now: Int64) throws {
        let found = tries
        guard !(found.enrollments.isEmpty && found.keys.isEmpty) else { return }
        // First the rows are held, then the others' chains are read: so no right PIN comes in between.
        let rows = try found.enrollments.compactMap { try store.enrollment($0) }
        for key in found.keys { _ = try store.pinTries(of: key) }
        let held = Set(found.keys)
        let tries = others.isEmpty ? found : try NewestChains(store, own, hosts).tries
        for enrollment in rows {
            guard let failures = tries.missing(in: enrollment) else { continue }
            let counted = PINTries(failures: failures - 1, blockedUntil: nil).begun(at: now)
            guard try store.change(enrollment.id, .pinTries(from: enrollment.pinTries, to: counted)) != nil else {
                continue
            }
            try store.record(.pinTriesPutBack(PINCounter(enrollment.id), counted), at: now)
        }
        let known = try store.keyTries()
        for (key, failures) in tries.missing(in: known) where held.contains(key) {
            let counted = PINTries(failures: failures - 1, blockedUntil: nil).begun(at: now)
            guard try store.setPINTries(of: key, from: known[key] ?? .fresh, to: counted) else { continue }
            try store.record(.pinTriesPutBack(PINCounter(key), counted), at: now)
        }
    }
}
