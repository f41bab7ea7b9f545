extension Journal {
    /// Has the journal of a store that a state was brought into say what its rows are, before anything else is written.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``ForgedJournalError`` if the store has no audit key, or what opening it throws.
    package static func recordMove(in store: any StoreWriter, keys: any AuditKeys, at now: Int64) throws {
        guard let sealed = try store.sealedAuditKey() else { throw ForgedJournalError("its audit key is gone") }
        let rows = RowsOfMoment(
            enrollments: try store.enrollments(includingEnded: true), keyTries: try store.keyTries())
        for fact in MovedRows.facts(of: rows) { try store.record(fact, at: now) }
        try keys.open(sealed).signHead(of: store)
    }
}
