import Journal
import Records
import StoreTables
import TextAndTime

/// The only place that tries PINs: every try is counted, and on the disk, before it is made.
///
/// Of a key that the agent made, tries are counted for its enrollment, and come one after the other in its queue. Of a key
/// that was there already they are counted for the key, and come one after the other in the key's queue: also at `enroll`,
/// when there is no enrollment yet. An answer says that the PIN was wrong and how many tries are left. It may: the PIN is
/// the only factor that is checked, so nothing is told about another (PSD2 RTS Article 4(3)(a)).
struct PINCheck: Sendable {
    let ports: DecisionPorts

    /// Counts a try of an enrollment's PIN, makes it, and takes it back if the key was not asked.
    ///
    /// Of a key of the agent's own, the count stays until ``succeeded(_:)``, or whatever else says in the store that the
    /// PIN was right.
    ///
    /// - Throws: `CommandError` `.userNotVerified` or `.blocked`, `.keyUnavailable` if its key is another one than that
    ///   of `enrollment` by now; else what `attempt` throws.
    func run<Result: Sendable>(
        _ enrollment: Enrollment, _ attempt: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await run(counter(of: enrollment), of: enrollment, attempt)
    }

    /// The same for whatever is counted.
    func run<Result: Sendable>(
        _ counter: PINCounter, of enrollment: Enrollment? = nil, _ attempt: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let key = counter.key else { return try await counted(counter, of: enrollment, attempt).result }
        // Several enrollments may share a token: alone in its queue, right PINs do not count against each other.
        return try await ports.keyQueues.run(key) {
            // Whoever waited for the queue may have gone away.
            try Task.checkCancellation()
            let (result, before, begun) = try await counted(counter, of: enrollment, attempt)
            try await keyOpened(counter, before: before, begun: begun)
            return result
        }
    }

    /// The PIN of a key was right; after wrong ones the journal says so, since it says those.
    private func keyOpened(_ counter: PINCounter, before: PINTries, begun: PINTries) async throws {
        try await ports.store.conclude { store in
            let now = ports.clock.now
            guard try store.setPINTries(of: counter, from: begun, to: .fresh), before != .fresh else { return }
            try store.record(.verified(counter), at: now)
        }
    }

    /// Throws `CommandError` `.blocked` if no PIN would be tried now.
    func expectNotBlocked(_ enrollment: Enrollment) throws {
        guard enrollment.countedTries.isBlocked(at: ports.clock.now) else { return }
        throw CommandError(enrollment.countedTries, of: PINCounter(enrollment.id))
    }

    /// The PIN was right, and nothing else was written about it.
    ///
    /// Nobody else tries in this queue, so whatever is counted by now was counted before. It stays counted if the key is
    /// another one by now: the PIN is not that key's.
    func succeeded(_ opened: Enrollment) async throws {
        let id = opened.id
        try await ports.store.conclude { store in
            let now = ports.clock.now
            guard let enrollment = try store.enrollment(id), enrollment.hasKey(of: opened, in: ports.custody) else {
                return
            }
            let tries = enrollment.pinTries
            guard try store.change(id, .pinTries(from: tries, to: .fresh)) != nil
            else { return }
            try store.record(.verified(PINCounter(id)), at: now)
        }
    }

    /// The counter of an enrollment's wrong PINs; a key that the agent did not make has its own.
    private func counter(of enrollment: Enrollment) -> PINCounter {
        PINCounter(enrollment.id, key: enrollment.key.external?.identity)
    }

    private func counted<Result: Sendable>(
        _ counter: PINCounter, of enrollment: Enrollment?, _ attempt: @Sendable () async throws -> Result
    ) async throws -> (result: Result, before: PINTries, begun: PINTries) {
        let (before, begun) = try await begin(counter, of: enrollment)
        do {
            return (try await attempt(), before, begun)
        } catch let failure as CustodyError where failure.code == .wrongPIN {
            try await record(begun, of: counter)
            throw CommandError(begun, of: counter)
        } catch let silence as CustodyError where silence.code == .silent {
            // The key may have tried the PIN, so the try stays counted.
            throw silence
        } catch let cancellation as CancellationError {
            // The same: nobody waited for what the key did.
            throw cancellation
        } catch {
            // No PIN was found wrong: the key could not be asked.
            try await set(counter, from: begun, to: before)
            throw error
        }
    }

    private func begin(
        _ counter: PINCounter, of read: Enrollment?
    ) async throws -> (before: PINTries, begun: PINTries) {
        try await ports.headStanding.untilRowsAreRead(on: ports.patience)
        try ports.headStanding.expectPINs()
        let (before, begun) = try await ports.store.write { store in
            // Others may have tried since the enrollment was read, and it may have ended or been damaged.
            let enrollment = try counter.enrollment.flatMap { try store.enrollment($0) }
            try enrollment?.expectWhole()
            // The PIN is tried on the key that was read, and counted in the row that is held.
            if let enrollment, let read { try enrollment.expectKey(of: read, in: ports.custody) }
            guard let before = try counter.key.map({ try store.pinTries(of: $0) }) ?? enrollment?.pinTries else {
                throw CommandError(.notFound, "there is no \(counter.name)")
            }
            let now = ports.clock.now
            guard !before.isBlocked(at: now) else { throw CommandError(before, of: counter) }
            if let key = counter.key, before == .fresh, try !store.hasRoomForTries(of: key) {
                throw CommandError(
                    .failed,
                    "no PIN of \(counter.name) was tried: the agent has counted PINs of "
                        + "\(PINTries.keysWithoutEnrollment) keys that no enrollment uses, and counts no more")
            }
            // Of a count that is not the agent's no PIN is tried now.
            let isNoted = counter.key != nil && before != .unknown
            let begun = before.begun(at: now, by: isNoted ? store.journalHost ?? "" : nil)
            guard try store.setPINTries(of: counter, from: before, to: begun) else {
                throw CommandError(.notEnrolled, "\(counter.name) has ended")
            }
            if before == .unknown {
                try store.record(.pinTriesPutBack(counter, begun), at: now)
                try store.record(.blocked(counter, begun), at: now)
            }
            return (before, begun)
        }
        // The block is to stay, so it is said after the commit.
        if before == .unknown { throw CommandError(unknownTriesOf: counter, blockedUntil: begun.blockedUntil) }
        return (before, begun)
    }

    private func record(_ tries: PINTries, of counter: PINCounter) async throws {
        try await ports.store.conclude { store in
            if tries != tries.settled { try store.setPINTries(of: counter, from: tries, to: tries.settled) }
            try store.record(wrong: tries, of: counter, at: ports.clock.now)
        }
    }

    /// What was counted meanwhile stays counted.
    private func set(_ counter: PINCounter, from old: PINTries, to new: PINTries) async throws {
        try await ports.store.conclude { _ = try $0.setPINTries(of: counter, from: old, to: new) }
    }
}

extension CommandError {
    /// The PIN was wrong: says how many tries are left.
    ///
    /// A PIN is the only factor here, so this tells nothing about another one.
    fileprivate init(_ tries: PINTries, of counter: PINCounter) {
        guard let until = tries.blockedUntil else {
            let left = tries.left == 1 ? "1 try" : "\(tries.left) tries"
            self.init(.userNotVerified, "not verified: wrong PIN. \(left) left before \(counter.name) is blocked")
            return
        }
        self.init(
            .blocked,
            "\(counter.name) is blocked after \(tries.failures) wrong PINs; the next try is possible at "
                + "\(UTCTime.text(until))" + (counter.enrollment == nil ? "" : ", a deny at any time"))
    }

    /// What is counted of a key is not what the agent wrote; no PIN was tried.
    fileprivate init(unknownTriesOf counter: PINCounter, blockedUntil until: Int64?) {
        self.init(
            .blocked,
            "\(counter.name) is blocked: something else than the agent has changed its count of wrong PINs in the "
                + "database; find out who writes to the database. The next try is possible at "
                + (until.map(UTCTime.text) ?? "any time") + (counter.enrollment == nil ? "" : ", a deny at any time"))
    }

    /// Nobody was asked for a PIN yet; no try is counted.
    init(pinWantedFor request: RequestRecord) {
        self.init(
            .pinRequired, "enrollment \(request.enrollmentId) takes a PIN for every approval, and none was given",
            request: request)
    }
}
