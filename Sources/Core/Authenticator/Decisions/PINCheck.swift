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
        try await run(subject(of: enrollment), of: enrollment, attempt)
    }

    /// The same for whatever is counted.
    func run<Result: Sendable>(
        _ subject: PINTries.Subject, of enrollment: Enrollment? = nil, _ attempt: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let key = subject.key else { return try await counted(subject, of: enrollment, attempt).result }
        // Several enrollments may share a token: alone in its queue, right PINs do not count against each other.
        return try await ports.keyQueues.run(key) {
            // Whoever waited for the queue may have gone away.
            try Task.checkCancellation()
            let (result, before, begun) = try await counted(subject, of: enrollment, attempt)
            try await keyOpened(subject, before: before, begun: begun)
            return result
        }
    }

    /// The PIN of a key was right; after wrong ones the journal says so, since it says those.
    private func keyOpened(_ subject: PINTries.Subject, before: PINTries, begun: PINTries) async throws {
        try await ports.store.conclude { store in
            let now = ports.clock.now
            guard try store.setPINTries(of: subject, from: begun, to: .fresh), before != .fresh else { return }
            try store.record(.verified(subject), at: now)
        }
    }

    /// Throws `CommandError` `.blocked` if no PIN would be tried now.
    func expectNotBlocked(_ enrollment: Enrollment) throws {
        guard enrollment.pinTries.isBlocked(at: ports.clock.now) else { return }
        throw CommandError(enrollment.pinTries, of: PINTries.Subject(enrollment.id))
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
            let tries = enrollment.ownPINTries
            guard try store.change(id, .pinTries(from: tries, to: .fresh)) != nil
            else { return }
            try store.record(.verified(PINTries.Subject(id)), at: now)
        }
    }

    /// The subject of an enrollment's wrong PINs; a key that the agent did not make has its own.
    private func subject(of enrollment: Enrollment) -> PINTries.Subject {
        PINTries.Subject(enrollment.id, key: enrollment.key.external?.identity)
    }

    private func counted<Result: Sendable>(
        _ subject: PINTries.Subject, of enrollment: Enrollment?, _ attempt: @Sendable () async throws -> Result
    ) async throws -> (result: Result, before: PINTries, begun: PINTries) {
        let (before, begun) = try await begin(subject, of: enrollment)
        do {
            return (try await attempt(), before, begun)
        } catch let failure as CustodyError where failure.code == .wrongPIN {
            try await record(begun, of: subject)
            throw CommandError(begun, of: subject)
        } catch let silence as CustodyError where silence.code == .silent {
            // The key may have tried the PIN, so the try stays counted.
            throw silence
        } catch let cancellation as CancellationError {
            // The same: nobody waited for what the key did.
            throw cancellation
        } catch {
            // No PIN was found wrong: the key could not be asked.
            try await set(subject, from: begun, to: before)
            throw error
        }
    }

    private func begin(
        _ subject: PINTries.Subject, of read: Enrollment?
    ) async throws -> (before: PINTries, begun: PINTries) {
        try await ports.headStanding.untilRowsAreRead(on: ports.patience)
        try ports.headStanding.expectPINs()
        let (before, begun) = try await ports.store.write { store in
            // Others may have tried since the enrollment was read, and it may have ended or been damaged.
            let enrollment = try subject.enrollment.flatMap { try store.enrollment($0) }
            try enrollment?.expectWhole()
            // The PIN is tried on the key that was read, and counted in the row that is held.
            if let enrollment, let read { try enrollment.expectKey(of: read, in: ports.custody) }
            guard let before = try subject.key.map({ try store.pinTries(of: $0) }) ?? enrollment?.ownPINTries else {
                throw CommandError(.notFound, "there is no \(subject.name)")
            }
            let now = ports.clock.now
            guard !before.isBlocked(at: now) else { throw CommandError(before, of: subject) }
            if let key = subject.key, before == .fresh, try !store.hasRoomForTries(of: key) {
                throw CommandError(
                    .failed,
                    "no PIN of \(subject.name) was tried: the agent has counted PINs of "
                        + "\(PINTries.keysWithoutEnrollment) keys that no enrollment uses, and counts no more")
            }
            // Of a count that is not the agent's no PIN is tried now.
            let isNoted = subject.key != nil && before != .unknown
            let begun = before.begun(at: now, by: isNoted ? store.journalHost ?? "" : nil)
            guard try store.setPINTries(of: subject, from: before, to: begun) else {
                throw CommandError(.notEnrolled, "\(subject.name) has ended")
            }
            if before == .unknown {
                try store.record(.pinTriesPutBack(subject, begun), at: now)
                try store.record(.blocked(subject, begun), at: now)
            }
            return (before, begun)
        }
        // The block is to stay, so it is said after the commit.
        if before == .unknown { throw CommandError(unknownTriesOf: subject, blockedUntil: begun.blockedUntil) }
        return (before, begun)
    }

    private func record(_ tries: PINTries, of subject: PINTries.Subject) async throws {
        try await ports.store.conclude { store in
            if tries != tries.settled { try store.setPINTries(of: subject, from: tries, to: tries.settled) }
            try store.record(wrong: tries, of: subject, at: ports.clock.now)
        }
    }

    /// What was counted meanwhile stays counted.
    private func set(_ subject: PINTries.Subject, from old: PINTries, to new: PINTries) async throws {
        try await ports.store.conclude { _ = try $0.setPINTries(of: subject, from: old, to: new) }
    }
}

extension CommandError {
    /// The PIN was wrong: says how many tries are left.
    ///
    /// A PIN is the only factor here, so this tells nothing about another one.
    fileprivate init(_ tries: PINTries, of subject: PINTries.Subject) {
        guard let until = tries.blockedUntil else {
            let left = tries.left == 1 ? "1 try" : "\(tries.left) tries"
            self.init(.userNotVerified, "not verified: wrong PIN. \(left) left before \(subject.name) is blocked")
            return
        }
        self.init(
            .blocked,
            "\(subject.name) is blocked after \(tries.failures) wrong PINs; the next try is possible at "
                + "\(UTCTime.text(until))" + (subject.enrollment == nil ? "" : ", a deny at any time"))
    }

    /// What is counted of a key is not what the agent wrote; no PIN was tried.
    fileprivate init(unknownTriesOf subject: PINTries.Subject, blockedUntil until: Int64?) {
        self.init(
            .blocked,
            "\(subject.name) is blocked: something else than the agent has changed its count of wrong PINs in the "
                + "database; find out who writes to the database. The next try is possible at "
                + (until.map(UTCTime.text) ?? "any time") + (subject.enrollment == nil ? "" : ", a deny at any time"))
    }

    /// Nobody was asked for a PIN yet; no try is counted.
    init(pinWantedFor request: RequestRecord) {
        self.init(
            .pinRequired, "enrollment \(request.enrollmentId) takes a PIN for every approval, and none was given",
            request: request)
    }
}
