/// What a verification of the journal found.
package struct JournalVerdict: Sendable {
    /// How many entries are as they were written.
    package let count: Int
    /// Behind what the kept entries begin; nil if none was removed for its age.
    package let floor: JournalMark?
    /// The head that was held against them.
    package let head: JournalMark?
    /// The first entry that is not as it was written; nil if all are.
    package let fault: JournalError?
    /// The entries about the request that was asked for, up to the fault.
    ///
    /// The oldest ``JournalExtract/maxEntries``.
    let found: [JournalEntry]
}

/// Verifies the whole journal: each entry against the next, the last one against the signed head.
///
/// Also what was signed against the enrollments' signCounts, if no other host has signed.
///
/// What is written or pruned while it reads is no fault: it ends at the head of its beginning, and if entries go for
/// their age it goes on behind the new floor. No more than a batch is in memory.
struct JournalAudit: Sendable {
    let store: JournaledStore
    /// Whose entries are wanted; nil for none.
    var request: RequestID?

    private struct State: Sendable {
        var count = 0
        var found: [JournalEntry] = []
        var floor: JournalMark?
        /// Nil before the first batch.
        var check: JournalCheck?
        var signCounts = JournaledSignCounts()
        var enrolled = JournaledEnrollments()
        var pinTries = JournaledPINTries()
        /// The checkpoint before the next one.
        var checkpoint: JournalCheckpoint?
    }

    func run() async throws -> JournalVerdict {
        // Before the database is read: what is written meanwhile is newer.
        let committed = store.head
        let (head, behind, enrollments, keyTries) = try await store.read { store in
            let head = try store.journalMark(.head)
            // What rows say may be in the chain of another host, which this one is not held against.
            let hasAll = try store.headsOfOthers().isEmpty
            return (
                head, try store.journal(after: head?.point.sequence ?? 0, limit: 1).first,
                hasAll ? try store.enrollments(includingEnded: true) : [], hasAll ? try store.keyTries() : [:]
            )
        }
        var state = State()
        var fault: JournalError?
        do {
            guard let head else { throw JournalError(sequence: 1, problem: "is missing: the journal has no head") }
            try await hold(upTo: head, &state)
            if let behind {
                throw JournalError(sequence: behind.sequence, problem: "was put in behind the signed head")
            }
            if let missing = state.signCounts.firstMissing(of: enrollments) {
                throw JournalError(sequence: head.point.sequence + 1, problem: "is missing: \(missing)")
            }
            // One bad row says nothing about the entries of a request.
            if request == nil, let found = try state.enrolled.firstFault(of: enrollments, head: head.point) {
                throw found
            }
            if request == nil, let old = enrollments.first(where: { state.pinTries.missing(in: $0) != nil }) {
                throw JournalError(
                    sequence: head.point.sequence + 1,
                    problem: "is missing: enrollment \(old.id) had more wrong PINs than its row says")
            }
            if request == nil, let old = state.pinTries.missing(in: keyTries).keys.first {
                throw JournalError(
                    sequence: head.point.sequence + 1,
                    problem: "is missing: \(PINCounter(old).name) had more wrong PINs than its row says")
            }
            if request == nil, let changed = keyTries.first(where: { $0.value == .unknown })?.key {
                throw JournalError(
                    sequence: head.point.sequence,
                    problem:
                        "does not vouch for the wrong PINs of \(PINCounter(changed).name): their row is not as the "
                        + "agent wrote it")
            }
            if let committed, committed.sequence > head.point.sequence {
                throw JournalError(
                    sequence: head.point.sequence + 1,
                    problem: "is missing: this agent has written up to entry \(committed.sequence)")
            }
        } catch let found as JournalError {
            fault = found
        }
        return JournalVerdict(
            count: state.count, floor: state.floor, head: head, fault: fault, found: state.found)
    }

    private func hold(upTo head: JournalMark, _ state: inout State) async throws {
        while try await holdBatch(upTo: head.point.sequence, &state) {}
        try state.check?.end(at: head.point)
        guard try await store.isSigned(head, as: .head) else {
            throw JournalError(sequence: head.point.sequence, problem: "is not the one that the audit key has signed")
        }
    }

    /// False if there is no more up to `last`.
    private func holdBatch(upTo last: Int64, _ state: inout State) async throws -> Bool {
        let position = state.check?.last.sequence ?? 0
        // Up to the end of a block, so that none is unpacked twice.
        let limit = Int(JournalCheckpoint.restOfBlock(after: position) + JournalCheckpoint.length)
        let (floor, rows, checkpoints) = try await store.read { store in
            let rows = try store.journal(after: position, limit: limit)
            let ends = rows.map(\.sequence).filter { $0.isMultiple(of: JournalCheckpoint.length) }
            return (try store.journalMark(.floor), rows, try ends.compactMap { try store.checkpoint(at: $0) })
        }
        var check = try await check(behind: floor, state)
        for row in rows where row.sequence <= last {
            let isFollowed = try check.follow(row)
            let entry: JournalEntry?
            if isFollowed {
                let isRead = row.tellsOfRows || (request != nil && row.request == request)
                entry = isRead ? JournalEntry(row, isFollowed: true) : nil
            } else {
                entry = try check.hold(row)
            }
            if let checkpoint = checkpoints.first(where: { $0.point.sequence == row.sequence }) {
                try await hold(checkpoint, against: check.last, &state)
            }
            state.count += 1
            guard let entry else { continue }
            state.signCounts.follow(entry)
            state.enrolled.follow(entry)
            state.pinTries.follow(entry)
            if isWanted(entry), state.found.count < JournalExtract.maxEntries { state.found.append(entry) }
        }
        state.check = check
        state.floor = floor
        return rows.count == limit && check.last.sequence < last
    }

    /// - Parameter point: where the entries lead to.
    private func hold(_ checkpoint: JournalCheckpoint, against point: JournalPoint, _ state: inout State) async throws {
        guard let key = try await store.publicKey(), try checkpoint.isSigned(by: key) else {
            throw JournalError(
                sequence: point.sequence, problem: "has a checkpoint that the audit key has not signed")
        }
        guard checkpoint.point == point else {
            throw JournalError(
                sequence: max(checkpoint.block.lowerBound, (state.floor?.point.sequence ?? 0) + 1),
                problem: "or one behind it, up to \(point.sequence), was changed: their checkpoint is of others")
        }
        if let before = state.checkpoint, before.earlierOfNext != checkpoint.earlier {
            throw JournalError(sequence: point.sequence, problem: "has a checkpoint that is of another journal")
        }
        state.checkpoint = checkpoint
    }

    private func isWanted(_ entry: JournalEntry) -> Bool {
        guard let request else { return false }
        return entry.text("request") == request.text
    }

    /// The check that goes on with what stands behind `floor`: another one if entries that it waits for are gone.
    private func check(behind floor: JournalMark?, _ state: State) async throws -> JournalCheck {
        if let check = state.check, floor == state.floor { return check }
        if let floor, !(try await store.isSigned(floor, as: .floor)) {
            throw JournalError(
                sequence: floor.point.sequence, problem: "was removed, and not for its age: no signature says so")
        }
        let start = floor?.point ?? .beginning
        guard let check = state.check, check.last.sequence >= start.sequence else { return JournalCheck(after: start) }
        return check
    }
}
