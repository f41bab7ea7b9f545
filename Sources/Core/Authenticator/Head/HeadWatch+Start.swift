import Journal
import Keys
import Logging
import Records
import StoreTables
import StrictJSON

extension HeadWatch {
    /// Holds the database against the note, before the first write.
    ///
    /// - Parameter isAccepted: a person takes a database that has no journal of this host, though a head is noted.
    /// - Returns: what is to be journaled with the start; nil if nothing is.
    /// - Throws: ``ForeignHeadError``; `StoreError` `.forged` if the journal is not as it was signed; what the keeper
    ///   throws if the note cannot be read now.
    func begin(isAccepted: Bool = false) async throws -> JournalFact? {
        guard let keeper = ports.headKeeper else { return nil }
        let found = try await keeper.read()
        let key: PublicKey?
        do {
            key = try await store.publicKey()
        } catch let trouble as StoreError {
            throw trouble
        } catch {
            // The secret is another one: the first write says so.
            return nil
        }
        guard let key else {
            try await beginWithout(found, keeper, isAccepted: isAccepted)
            return nil
        }
        switch found {
        case .nothing: try await doubt(.missing("there is no \(keeper.path)"), key)
        case .unreadable(let reason): try await doubt(.missing(reason), key)
        case .note(.accepted): return .headAccepted(nil)
        case .note(.head(let mark, let digest)):
            try expect(digest, of: key, at: keeper)
            guard try mark.isSigned(by: key, as: .head) else {
                try await doubt(.missing("\(keeper.path) is not as the audit key has signed it"), key)
                break
            }
            if let reason = try await store.read({ try reasonToDoubt(mark.point, key, in: $0) }) {
                try await doubt(.restored(reason, noted: mark.point.sequence), key)
            }
        }
        return nil
    }

    private func expect(_ digest: [UInt8], of key: PublicKey, at keeper: any HeadKeeper) throws {
        guard try SHA256Digest.of(key.subjectPublicKeyInfo) == digest else {
            throw ForeignHeadError(keeper.path, "under another audit key")
        }
    }

    /// This host has no chain in the database.
    private func beginWithout(_ found: KeptHead, _ keeper: any HeadKeeper, isAccepted: Bool) async throws {
        let isEmpty = try await store.read { store in
            try JournalMarks(store).isNothing && store.journal(after: 0, limit: 1).isEmpty
        }
        // Its audit key is gone: the first write says so.
        guard isEmpty else { return }
        switch found {
        case .nothing:
            // Before the first entry: a start that is cut off between the two has no head to miss.
            _ = await trying { try await keeper.write(.accepted) }
        case .note(.accepted): break
        case .note(.head(let mark, _)):
            guard isAccepted else {
                throw ForeignHeadError(
                    keeper.path, "and the database has none of this host",
                    "; or, if this is an older copy of the right one, take it with oob-agent --accept-head")
            }
            let number = mark.point.sequence
            let reason = "this host has noted entry \(number) of its journal, and the database has none of it"
            standing.set(.restored(reason, noted: number))
        case .unreadable(let reason):
            throw ForeignHeadError(
                description: "\(reason), and the database has no journal of this host: move \(keeper.path) away")
        }
    }

    /// - Parameter key: under which the chain must be signed: one that is not is forged.
    private func doubt(_ doubt: HeadStanding.Doubt, _ key: PublicKey) async throws {
        try await store.read { try JournalMarks($0).expectSigned(by: key) }
        standing.set(doubt)
        log.error("the database is in doubt", metadata: ["kind": "\(doubt.cause)", "reason": "\(doubt.sentence)"])
    }

    /// Why the database is not the one in which this host noted the entry, or an older one; nil if it is.
    private func reasonToDoubt(_ point: JournalPoint, _ key: PublicKey, in store: StoreReading) throws -> String? {
        let marks = try JournalMarks(store)
        try marks.expectSigned(by: key)
        guard let head = marks.head?.point, head != point else { return nil }
        let number = point.sequence
        guard number <= head.sequence else {
            return "this host has noted entry \(number) of its journal, and the database ends with \(head.sequence)"
        }
        let floor = marks.floor?.point
        if let floor, floor.sequence > number {
            log.notice("the noted head is older than the journal is kept", metadata: ["entry": "\(number)"])
            return nil
        }
        guard try floor?.sequence == number ? floor == point : Self.has(point, in: store) else {
            return "the database has another entry \(number) of this host's journal than it has noted"
        }
        guard head.sequence - number <= followed else {
            return
                "the database goes on for more than \(followed) entries behind entry \(number), which this host noted last"
        }
        try Self.follow(from: point, to: head, in: store)
        return nil
    }

    private static func follow(from point: JournalPoint, to head: JournalPoint, in store: StoreReading) throws {
        var chain = JournalChain(after: point)
        while chain.last.sequence < head.sequence {
            let rows = try store.journal(after: chain.last.sequence, limit: page)
            guard try !rows.isEmpty && rows.allSatisfy({ try chain.follow($0) }) else {
                throw ForgedJournalError("entry \(chain.last.sequence + 1) does not follow the one before it")
            }
        }
        guard chain.last == head else { throw ForgedJournalError("its head is not of its newest entry") }
    }

    private static func has(_ point: JournalPoint, in store: StoreReading) throws -> Bool {
        guard let row = try store.journal(after: point.sequence - 1, limit: 1).first, row.sequence == point.sequence
        else { throw ForgedJournalError("entry \(point.sequence), which this host has noted, is missing") }
        return try SHA256Digest.of(row.bytes) == point.digest
    }

    /// Sees that a state which is moved here has no noted head of another journal in its way.
    ///
    /// If none is noted, none is written: the first start says that it is missing.
    func expectOwnHead() async throws {
        guard let keeper = ports.headKeeper, let key = try await store.publicKey() else { return }
        guard case .note(.head(_, let digest)) = try await keeper.read() else { return }
        try expect(digest, of: key, at: keeper)
    }

    /// Takes the database as it is: a person has looked at it.
    ///
    /// - Parameter rowWatch: sees whether the rows are in doubt.
    /// - Returns: what was in doubt; nil if nothing was.
    func accept(_ rowWatch: RowWatch) async throws -> String? {
        _ = try await begin(isAccepted: true)
        // With another secret, or a forged end, this fails, as a start would.
        try await store.write { try $0.makeRowKey() }
        let rows = try await rowWatch.look()
        let doubts = standing.doubts
        guard !doubts.isEmpty else { return nil }
        // Of an older row the signCount is an older one, too.
        try await doubtSignCounts()
        try await store.write { [ports] store in
            // Nothing else of this host has written since the survey: it has the state directory to itself.
            if let rows, !rows.agrees { try store.accept(rows) }
            for doubt in doubts { try store.record(.headAccepted(doubt), at: ports.clock.now) }
        }
        standing.set(nil)
        standing.acceptRows()
        try await write()
        return doubts.map(\.sentence).joined(separator: "\n")
    }
}

extension JournalFact {
    /// The database was taken as it is, though it was in doubt; nil: after a restore by the agent's own means.
    static func headAccepted(_ doubt: HeadStanding.Doubt?) -> JournalFact {
        var facts: JSONObject = [:]
        switch doubt {
        case nil: facts["why"] = "marked"
        case .missing?: facts["why"] = "headMissing"
        case .restored(_, let noted)?:
            facts["why"] = "restored"
            facts["noted"] = .integer(noted)
        case .rowsChanged?: facts["why"] = "rowsChanged"
        }
        return JournalFact(.headAccepted, facts)
    }
}
