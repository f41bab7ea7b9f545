package import Records
package import StoreTables

extension StoreTransaction {
    /// Maximum number of rows of a move in memory.
    private static let movedPage = 200

    /// Records the rows of a moved state in the journal of its new store, before any other write.
    ///
    /// - Parameters:
    ///   - page: the number of rows that are read at a time.
    ///   - now: seconds since 1970.
    /// - Throws: ``ForgedJournalError`` if the store has no audit key; the errors of opening it.
    package func recordMove(keys: any AuditKeys, page: Int = movedPage, at now: Int64) throws {
        guard let sealed = try sealedAuditKey() else { throw ForgedJournalError("its audit key is gone") }
        var (facts, place): (MovedRows.Facts, Int64?) = (MovedRows.Facts(), nil)
        // One database transaction for all rows: no other process uses the store.
        while let page = try enrollmentPage(after: place, limit: page, includingEnded: true) {
            for fact in facts.facts(of: page.enrollments) { try append(fact, at: now) }
            place = page.place
        }
        for fact in facts.facts(concluding: try keyTries()) { try append(fact, at: now) }
        try keys.open(sealed).signHead(of: self)
    }
}
