package import Records
import StoreTables

extension StoreTransaction {
    /// Appends an entry about this database transaction; it is published after the commit.
    package func record(_ fact: JournalFact, at now: Int64) throws { keep(try append(fact, at: now)) }

    /// Appends an entry that is not published after the commit, so that it does not stay in memory.
    @discardableResult
    func append(_ fact: JournalFact, at now: Int64) throws -> JournalEntry {
        let last = try journalMark(.head)?.point ?? .beginning
        let entry = try JournalEntry(fact, at: now, after: last)
        try insert(entry.row)
        try set(JournalMark(point: try entry.point, signature: nil), as: .head)
        return entry
    }
}
