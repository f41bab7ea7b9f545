package import Keys
package import Records
package import StoreTables

/// Both ends of the journal, as the database has them.
package struct JournalMarks: Sendable, Equatable {
    package let head: JournalMark?
    /// Nil if nothing was removed for its age.
    package let floor: JournalMark?

    package init(_ store: StoreReading) throws {
        head = try store.journalMark(.head)
        floor = try store.journalMark(.floor)
    }

    /// As of a journal that has not begun.
    package var isNothing: Bool { head == nil && floor == nil }

    /// Sees that they are the ones that were committed last.
    func expect(_ committed: JournalMarks) throws(ForgedJournalError) {
        guard head == committed.head else {
            throw ForgedJournalError("its head is not the one that this agent wrote last")
        }
        guard floor == committed.floor else {
            throw ForgedJournalError("its floor is not the one that this agent wrote last")
        }
    }

    /// Sees that the audit key has signed them.
    package func expectSigned(by key: PublicKey) throws {
        guard let head else { throw ForgedJournalError("it has no head") }
        guard try head.isSigned(by: key, as: .head) else {
            throw ForgedJournalError("the audit key has not signed its head, entry \(head.point.sequence)")
        }
        guard try floor?.isSigned(by: key, as: .floor) != false else {
            throw ForgedJournalError("the audit key has not signed its floor")
        }
    }

    /// Sees that the newest entry is the one that the head names, and that none comes after it.
    ///
    /// The others are held against each other by ``JournalAudit``.
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

    /// Sees that each of the newest entries follows the one before it, and gives them.
    ///
    /// Those before them are held against each other by ``JournalAudit``.
    @discardableResult
    func expectNewestEntries(_ count: Int64, of store: StoreReading) throws -> [JournalEntry] {
        guard let head = head?.point else { throw ForgedJournalError("it has no head") }
        let start = max(head.sequence - count, floor?.point.sequence ?? 0)
        // Of another host's chain, what it has written since its head was read is left out.
        let rows = try store.journal(after: start, limit: Int(head.sequence - start))
        guard let first = rows.first.flatMap(JournalEntry.init) else {
            throw ForgedJournalError("entry \(start + 1) is missing, or was changed")
        }
        var check = JournalCheck(after: JournalPoint(sequence: start, digest: first.previous))
        do {
            let entries = try rows.map { try check.hold($0) }
            try check.end(at: head)
            return entries
        } catch let fault as JournalError {
            throw ForgedJournalError("\(fault)")
        }
    }
}
