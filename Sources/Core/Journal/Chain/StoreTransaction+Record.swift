package import Records
import StoreTables

extension StoreTransaction {
    /// Appends to the journal what this database transaction does.
    package func record(_ fact: JournalFact, at now: Int64) throws { note(try append(fact, at: now)) }

    /// Appends an entry of which nobody is told after the commit, so nothing of it stays in memory.
    @discardableResult
    func append(_ fact: JournalFact, at now: Int64) throws -> JournalEntry {
        let last = try journalMark(.head)?.point ?? .beginning
        let entry = try JournalEntry(fact, at: now, after: last)
        try insert(entry.row)
        try set(JournalMark(point: try entry.point, signature: nil), as: .head)
        return entry
    }
}
