import Records
import StoreTables

/// The newest entries of the other chains, which a host reads before its first write.
struct NewestChains {
    /// Maximum numbers of entries to read: of one chain, and of all other chains together.
    private static let (ofOne, ofOthers): (Int64, Int64) = (1_000, 8_000)

    /// The chains that match their signatures; all others are ignored.
    private let others: [(host: String, entries: [JournalEntry])]

    init(_ store: StoreReading, _ hosts: JournalHosts) throws {
        let names = try store.otherHosts()
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

    /// Checks that no other host has seen more of this host's chain than the store has.
    func expectNoneKnowsMore(than head: JournalPoint, of store: StoreReading) throws(ForgedJournalError) {
        guard let name = store.journalHost else { return }
        for (host, entries) in others {
            for entry in entries.reversed() {
                // Entries before a move name the chains of another database.
                if entry.kind == .moved { break }
                guard let seen = entry.hostsSeen?.first(where: { $0.host == name }) else { continue }
                guard seen.head.sequence > head.sequence else { continue }
                throw ForgedJournalError(
                    "it ends with entry \(head.sequence), and host \(host) has seen entry \(seen.head.sequence)")
            }
        }
    }
}
