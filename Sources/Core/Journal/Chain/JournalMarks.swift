package import Keys
package import Records
package import StoreTables

/// The head and the floor of the journal, as stored in the database.
package struct JournalMarks: Sendable, Equatable {
    package let head: JournalMark?
    /// `nil` if no entry was removed because of its age.
    package let floor: JournalMark?

    package init(_ store: StoreReading) throws {
        head = try store.journalMark(.head)
        floor = try store.journalMark(.floor)
    }

    /// Whether both marks are missing, as before the journal's first entry.
    package var isNothing: Bool { head == nil && floor == nil }

    /// Checks that the marks equal the last committed ones.
    func expect(_ committed: JournalMarks) throws(ForgedJournalError) {
        guard head == committed.head else {
            throw ForgedJournalError("its head is not the one that this agent wrote last")
        }
        guard floor == committed.floor else {
            throw ForgedJournalError("its floor is not the one that this agent wrote last")
        }
    }

    /// Verifies the audit key's signatures of the marks.
    package func expectSigned(by key: PublicKey) throws {
        guard let head else { throw ForgedJournalError("it has no head") }
        guard try head.isSigned(by: key, as: .head) else {
            throw ForgedJournalError("the audit key has not signed its head, entry \(head.point.sequence)")
        }
        guard try floor?.isSigned(by: key, as: .floor) != false else {
            throw ForgedJournalError("the audit key has not signed its floor")
        }
    }

    /// Checks that the newest entry matches the head, and that no entry follows it.
    ///
    /// ``JournalAudit`` verifies the other entries.
    func expectNewestEntry(of store: StoreReading) throws {
        guard let head = head?.point else { throw ForgedJournalError("it has no head") }
        let newest = try store.journal(after: head.sequence - 1, limit: 2)
        guard let entry = newest.first, entry.sequence == head.sequence else {
            throw ForgedJournalError("its newest entry, \(head.sequence), is missing")
        }
        guard try SHA256Digest.of(entry.bytes) == head.digest else {
            throw ForgedJournalError("its newest entry, \(head.sequence), was changed")
        }
        if newest.count > 1 {
            throw ForgedJournalError("entry \(newest[1].sequence) was put in behind its head")
        }
    }

    /// Verifies that the newest entries form a chain that ends at the head, and returns them.
    ///
    /// ``JournalAudit`` verifies the older entries, and that the first of these follows them.
    @discardableResult
    func expectNewestEntries(_ count: Int64, of store: StoreReading) throws -> [JournalEntry] {
        guard let head = head?.point else { throw ForgedJournalError("it has no head") }
        let start = max(head.sequence - count, floor?.point.sequence ?? 0)
        // Entries that this chain's host appended after the head was read are left out.
        let rows = try store.journal(after: start, limit: Int(head.sequence - start))
        guard let first = rows.first.flatMap(JournalEntry.init) else {
            throw ForgedJournalError("entry \(start + 1) is missing, or was changed")
        }
        var check = JournalCheck(after: JournalPoint(sequence: start, digest: first.previous))
        do {
            let entries = try rows.map { try check.verify($0) }
            try check.verifyEnd(at: head)
            return entries
        } catch let fault as JournalError {
            throw ForgedJournalError("\(fault)")
        }
    }
}
