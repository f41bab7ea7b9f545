package import Records
package import StoreTables

extension StoreTransaction {
    /// The most rows of a move that are in memory.
    private static let movedPage = 200

    /// Has the journal of a store that a state was brought into say what its rows are, before anything else is written.
    ///
    /// - Parameters:
    ///   - page: how many rows are read at a time.
    ///   - now: seconds since 1970.
    /// - Throws: ``ForgedJournalError`` if the store has no audit key, or what opening it throws.
    package func recordMove(keys: any AuditKeys, page: Int = movedPage, at now: Int64) throws {
        guard let sealed = try sealedAuditKey() else { throw ForgedJournalError("its audit key is gone") }
        var (facts, place): (MovedRows.Facts, Int64?) = (MovedRows.Facts(), nil)
        // All in one database transaction, of a store that nobody else has.
        while let page = try enrollmentPage(after: place, limit: page, includingEnded: true) {
            for fact in facts.facts(of: page.enrollments) { try append(fact, at: now) }
            place = page.place
        }
        for fact in facts.facts(concluding: try keyTries()) { try append(fact, at: now) }
        try keys.open(sealed).signHead(of: self)
    }
}
