package import Records

/// The first entry of a journal that is not as it was written.
package struct JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// In whose chain it is; nil if there is one chain, or it is about the rows.
    package let host: String?
    package let sequence: Int64
    /// What is wrong with it; a clause.
    package let problem: String

    init(host: String? = nil, sequence: Int64, problem: String) {
        (self.host, self.sequence, self.problem) = (host, sequence, problem)
    }

    package var description: String { "entry \(sequence)\(host.map { " of host \($0)" } ?? "") \(problem)" }

    /// The same of the chain of a host.
    func of(host: String) -> JournalError { JournalError(host: host, sequence: sequence, problem: problem) }
}

/// Holds entries against one another, in their order, and names the first that is not as it was written.
package struct JournalCheck: Sendable {
    /// The last entry that was held.
    private(set) var last: JournalPoint
    /// The newest entry that another one has vouched for; nil if there is none behind the floor.
    package private(set) var vouched: JournalPoint?
    private let floor: JournalPoint
    /// Its `previous` is not the digest of the entry before it: one of the two was changed, and what follows tells which.
    private var doubted: Int64?

    package init(after floor: JournalPoint) {
        self.floor = floor
        last = floor
    }

    /// Takes the next entry by its digests alone, if it follows the one before it; false if it has to be looked at.
    ///
    /// What else there is to an entry, a digest that holds says too: only the agent has written entries that lead to its
    /// signed head.
    mutating func follow(_ row: JournalRow) throws -> Bool {
        guard doubted == nil, (row.kind == .auditKeyMade) == (row.sequence == 1) else { return false }
        var chain = JournalChain(after: last)
        guard try chain.follow(row) else { return false }
        vouched = last == floor ? nil : last
        last = chain.last
        return true
    }

    /// Takes the next entry.
    @discardableResult
    package mutating func hold(_ row: JournalRow) throws -> JournalEntry {
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

    /// No more entries come.
    ///
    /// - Parameter head: where the journal ends.
    func end(at head: JournalPoint) throws(JournalError) {
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

    /// The key is made with the first entry, and never again.
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
