package import Records

/// The first entry of a journal that fails verification.
package struct JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host of the entry's chain, or `nil` if there is one chain or the fault is in the rows.
    package let host: String?
    package let sequence: Int64
    /// The fault, as a clause.
    package let problem: String

    init(host: String? = nil, sequence: Int64, problem: String) {
        (self.host, self.sequence, self.problem) = (host, sequence, problem)
    }

    package var description: String { "entry \(sequence)\(host.map { " of host \($0)" } ?? "") \(problem)" }

    /// Returns the same error for the chain of a host.
    func of(host: String) -> JournalError { JournalError(host: host, sequence: sequence, problem: problem) }
}

/// Verifies entries in their order, and reports the first one with a fault.
package struct JournalCheck: Sendable {
    /// The last verified entry.
    private(set) var last: JournalPoint
    /// The newest entry whose digest the next entry confirms, or `nil` if there is none behind the floor.
    package private(set) var vouched: JournalPoint?
    private let floor: JournalPoint
    /// The entry whose `previous` is not the digest of the entry before it.
    ///
    /// One of the two was changed. The next entry shows which.
    private var doubted: Int64?

    package init(after floor: JournalPoint) {
        self.floor = floor
        last = floor
    }

    /// Advances by the digests alone, or returns `false` if the entry must be read in full.
    ///
    /// A matching digest also proves the rest of an entry, because only the agent has written entries that lead to its
    /// signed head.
    mutating func follow(_ row: JournalRow) throws -> Bool {
        guard doubted == nil, (row.kind == .auditKeyMade) == (row.sequence == 1) else { return false }
        var chain = JournalChain(after: last)
        guard try chain.follow(row) else { return false }
        vouched = last == floor ? nil : last
        last = chain.last
        return true
    }

    /// Reads and verifies the next entry.
    @discardableResult
    package mutating func verify(_ row: JournalRow) throws -> JournalEntry {
        let entry = JournalEntry(row)
        if let doubted { throw changed(doubted, isVouchedFor: entry?.previous == last.digest) }
        try checkPlace(of: row, entry)
        guard let entry else { throw JournalError(sequence: row.sequence, problem: "is not in the form of an entry") }
        if entry.previous == last.digest {
            vouched = last == floor ? nil : last
        } else if last == floor {
            throw JournalError(sequence: entry.sequence, problem: "was changed: it does not follow what was before it")
        } else {
            doubted = entry.sequence
        }
        try checkKind(of: entry)
        last = try entry.point
        return entry
    }

    /// Verifies the end of the journal, after the last entry.
    ///
    /// - Parameter head: the point at which the journal ends.
    func verifyEnd(at head: JournalPoint) throws(JournalError) {
        if let doubted { throw changed(doubted, isVouchedFor: head == last) }
        guard last.sequence == head.sequence else {
            throw JournalError(
                sequence: last.sequence + 1, problem: "is missing: the journal goes on to entry \(head.sequence)")
        }
        guard last.digest == head.digest else {
            throw JournalError(sequence: last.sequence, problem: "was changed: the signed head is of another one")
        }
    }

    private func checkPlace(of row: JournalRow, _ entry: JournalEntry?) throws(JournalError) {
        let expected = last.sequence + 1
        guard row.sequence >= expected else {
            throw JournalError(sequence: row.sequence, problem: "was put in: the journal begins with \(expected)")
        }
        guard row.sequence == expected else { throw JournalError(sequence: expected, problem: "is missing") }
        guard let entry, entry.sequence != expected else { return }
        throw JournalError(sequence: expected, problem: "is not in its place: entry \(entry.sequence) stands there")
    }

    /// Checks that the first entry makes the audit key, and no other entry does.
    private func checkKind(of entry: JournalEntry) throws(JournalError) {
        guard (entry.kind == .auditKeyMade) != (entry.sequence == 1) else { return }
        let problem =
            entry.sequence == 1
            ? "is not the first: what was before it is gone"
            : "has another audit key: nothing vouches for what was before it"
        throw JournalError(sequence: entry.sequence, problem: problem)
    }

    private func changed(_ sequence: Int64, isVouchedFor: Bool) -> JournalError {
        JournalError(sequence: isVouchedFor ? sequence - 1 : sequence, problem: "was changed")
    }
}
