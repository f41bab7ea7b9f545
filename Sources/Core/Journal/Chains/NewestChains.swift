import Records
import StoreTables

/// The newest entries of the other chains, as a host finds them before its first write.
struct NewestChains {
    /// How many of one chain are read, and of all others together.
    private static let (ofOne, ofOthers): (Int64, Int64) = (1_000, 8_000)

    /// The chains that are as they were signed: another one says nothing.
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

    /// Sees that no other host has seen more of this host's chain than there is.
    func expectNoneKnowsMore(than head: JournalPoint, of store: StoreReading) throws(ForgedJournalError) {
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
}
