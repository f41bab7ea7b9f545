import Keys
import Synchronization

extension BookWriter {
    /// Appends to the journal what this database transaction does.
    func record(_ fact: JournalFact, at now: Int64) throws {
        let last = try journalMark(.head)?.point ?? .beginning
        let entry = try JournalEntry(fact, at: now, after: last)
        try insert(entry.row)
        try set(JournalMark(point: try entry.point, signature: nil), as: .head)
    }
}

/// The book with its journal kept: a write that records something ends with a head that is signed anew, in the same
/// database transaction, and rings the bell once it is durable.
///
/// Before anything is written, what the database has is held against what this agent last committed; at its first write,
/// against the audit key's signatures. A journal that something else has changed takes no more entries, so nothing more
/// is decided.
struct JournaledBook: Book {
    /// How many of the newest entries are read before the first write.
    private static let atStart: Int64 = 1_000

    private let book: any Book
    private let keys: any AuditKeys
    private let clock: any AgentClock
    private let hub: EventHub
    private let signer = Kept<any JournalSigner>()
    /// As of the newest commit; nil before the first.
    private let marks = Kept<JournalMarks>()

    init(_ ports: Ports, hub: EventHub) {
        book = ports.book
        keys = ports.auditKeys
        clock = ports.clock
        self.hub = hub
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (any BookReader) throws -> T) async throws -> T {
        try await book.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any BookWriter) throws -> T) async throws -> T {
        let (result, isNews) = try await book.write { pages in
            let signer = try heldJournal(in: pages)
            let result = try body(pages)
            let isNews = try signer.signHead(of: pages)
            let marks = try JournalMarks(pages)
            // Not before the commit, and before the next database transaction: one that fails moves nothing.
            pages.afterCommit { self.marks.value = marks }
            return (result, isNews)
        }
        if isNews { hub.publish(.journalGrew) }
        return result
    }

    func scrub() async throws { try await book.scrub() }

    /// The newest entry as of this agent's last commit; nil before the first.
    var head: JournalPoint? { marks.value?.head?.point }

    /// The audit key's public half; nil before the first write.
    func publicKey() async throws -> PublicKey? {
        try await book.read { try openSigner(in: $0)?.publicKey }
    }

    /// Whether the audit key has signed a mark.
    func isSigned(_ mark: JournalMark, as name: JournalMark.Name) async throws -> Bool {
        guard let key = try await publicKey() else { return false }
        return try mark.isSigned(by: key, as: name)
    }

    /// A mark, signed, that is about to be written.
    func mark(_ name: JournalMark.Name, at point: JournalPoint, in book: any BookReader) throws -> JournalMark {
        JournalMark(point: point, signature: try openSigner(in: book)?.signature(for: JournalStatement(name, point)))
    }

    /// The audit key's word that the journal has these entries, which were held against its head before.
    func seal(_ entries: [JournalPoint], head: JournalPoint) async throws -> JournalExtract.Seal? {
        let statement = JournalStatement(extract: entries, head: head)
        return try await book.read { try openSigner(in: $0) }.map { signer in
            JournalExtract.Seal(statement: statement.octets, signature: try signer.signature(for: statement))
        }
    }

    /// The key that signs what is about to be written, if the journal is the one that was committed last.
    ///
    /// - Throws: ``ForgedJournal``.
    private func heldJournal(in book: any BookWriter) throws -> any JournalSigner {
        let found = try JournalMarks(book)
        guard let signer = try openSigner(in: book) else {
            guard try found.isNothing && book.journal(after: 0, limit: 1).isEmpty else {
                throw ForgedJournal("its audit key is gone")
            }
            try found.expectNoNewerRow(of: book)
            return try makeSigner(in: book)
        }
        if let marks = marks.value {
            try found.expect(marks)
            try found.expectNewestEntry(of: book)
        } else {
            try found.expectSigned(by: signer.publicKey)
            try found.expectNewestEntry(of: book)
            let entries = try found.expectNewestEntries(Self.atStart, of: book)
            let isFromBefore = try sealRows(in: book, after: entries)
            try found.expectNoNewerRow(of: book)
            // Entries from before rows had seals do not say all that is needed.
            if !isFromBefore { try putTriesBack(entries, in: book) }
        }
        return signer
    }

    /// A count of wrong PINs that was set back while no agent ran is what it was.
    private func putTriesBack(_ entries: [JournalEntry], in book: any BookWriter) throws {
        var journaled = JournaledPINTries()
        entries.forEach { journaled.follow($0) }
        let now = clock.now
        for enrollment in try book.enrollments(includingEnded: false) {
            guard let failures = journaled.missing(in: enrollment) else { continue }
            let tries = PINTries(failures: failures - 1, blockedUntil: nil).begun(at: now)
            guard try book.change(enrollment.id, .pinTries(from: enrollment.pinTries, to: tries)) != nil else {
                continue
            }
            try book.record(.pinTriesPutBack(enrollment.id, tries), at: now)
        }
    }

    /// Seals the rows of a book from before rows had seals; once, which the audit key then says.
    ///
    /// - Returns: whether it was from before.
    private func sealRows(in book: any BookWriter, after entries: [JournalEntry]) throws -> Bool {
        guard let sealed = try book.sealedAuditKey(), let vouching = try keys.vouchingForRows(sealed) else {
            return false
        }
        if let earlier = entries.last(where: { $0.kind == .rowsSealed }) {
            throw ForgedJournal("its audit key is a copy from before entry \(earlier.sequence), which sealed the rows")
        }
        let count = try book.sealUnsealedRows()
        try book.update(sealedAuditKey: vouching)
        try book.record(.rowsSealed(count), at: clock.now)
        return true
    }

    /// The key that the book has; opened once.
    private func openSigner(in book: any BookReader) throws -> (any JournalSigner)? {
        if let signer = signer.value { return signer }
        guard let sealed = try book.sealedAuditKey() else { return nil }
        let opened = try keys.open(sealed)
        signer.value = opened
        return opened
    }

    /// Makes the key in the database transaction of the first entry, so that neither is ever there without the other.
    ///
    /// It is not kept in memory: the transaction may still fail.
    private func makeSigner(in book: any BookWriter) throws -> any JournalSigner {
        let sealed = try keys.make()
        let made = try keys.open(sealed)
        try book.insert(sealedAuditKey: sealed)
        try book.record(.auditKeyMade(made.publicKey), at: clock.now)
        return made
    }
}

extension JournalSigner {
    /// True where the head had moved.
    fileprivate func signHead(of book: any BookWriter) throws -> Bool {
        guard let head = try book.journalMark(.head), head.signature == nil else { return false }
        let signature = try signature(for: JournalStatement(.head, head.point))
        try book.set(JournalMark(point: head.point, signature: signature), as: .head)
        return true
    }
}

extension JournalMark {
    func isSigned(by key: PublicKey, as name: Name) throws -> Bool {
        guard let signature else { return false }
        return try key.isValid(signature: signature, over: JournalStatement(name, point).octets)
    }
}

private final class Kept<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
