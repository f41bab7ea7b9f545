import Journal
import Keys
import Logging
import Records
import StoreTables
import StrictJSON

extension HeadWatch {
    /// Compares the database with the head note, before the first write.
    ///
    /// - Parameter isAccepted: whether a person accepts a database without a journal of this host, although there is a
    ///   head note.
    /// - Returns: the fact to record with the start, if there is one.
    /// - Throws: ``ForeignHeadError``; `StoreError` `.forged` if a signature of the journal does not verify; the
    ///   keeper's error if the note cannot be read now.
    func begin(isAccepted: Bool = false) async throws -> JournalFact? {
        guard let keeper = ports.headKeeper else { return nil }
        let found = try await keeper.read()
        let key: PublicKey?
        do {
            key = try await store.publicKey()
        } catch let trouble as StoreError {
            throw trouble
        } catch {
            // The agent has another secret. The first write reports that.
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

    /// Handles a database without a chain of this host.
    private func beginWithout(_ found: KeptHead, _ keeper: any HeadKeeper, isAccepted: Bool) async throws {
        let isEmpty = try await store.read { store in
            try JournalMarks(store).isNothing && store.journal(after: 0, limit: 1).isEmpty
        }
        // Entries without an audit key: the key was removed. The first write reports that.
        guard isEmpty else { return }
        switch found {
        case .nothing:
            // Written before the first entry. In the other order, an interrupted start could leave an entry without a
            // head note.
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

    /// - Parameter key: the audit key. A chain with another signature is forged.
    private func doubt(_ doubt: HeadStanding.Doubt, _ key: PublicKey) async throws {
        try await store.read { try JournalMarks($0).expectSigned(by: key) }
        standing.set(doubt)
        log.error("the database is in doubt", metadata: ["kind": "\(doubt.cause)", "reason": "\(doubt.sentence)"])
    }

    /// Returns why the database is older than the noted entry or has another history.
    ///
    /// `nil` if it continues from the entry.
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

    /// Verifies that the head note, if any, belongs to the journal of a state that is moved here.
    ///
    /// If the note is missing, none is written: the first start reports it.
    func expectOwnHead() async throws {
        guard let keeper = ports.headKeeper, let key = try await store.publicKey() else { return }
        guard case .note(.head(_, let digest)) = try await keeper.read() else { return }
        try expect(digest, of: key, at: keeper)
    }

    /// Accepts the database in its present state, after a person has checked it.
    ///
    /// - Parameter rowWatch: finds out whether the rows are in doubt.
    /// - Returns: the doubts that were accepted. `nil` if there were none.
    func accept(_ rowWatch: RowWatch) async throws -> String? {
        _ = try await begin(isAccepted: true)
        // This fails under another secret or with a forged end of the journal, as a start would.
        try await store.write { try $0.makeRowKey() }
        let rows = try await rowWatch.look()
        let doubts = standing.doubts
        guard !doubts.isEmpty else { return nil }
        // An older row also has an older signCount.
        try await doubtSignCounts()
        try await store.write { [ports] store in
            // No other process of this host has written since the survey: this process has the state directory to
            // itself.
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
    /// The acceptance of a database that was in doubt.
    ///
    /// `nil` stands for a restore by the agent's own means.
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
