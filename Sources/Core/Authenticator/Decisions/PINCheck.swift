import Journal
import Records
import StoreTables
import TextAndTime

/// The only place that tries PINs: each try is counted, and the count is durable, before the try is made.
///
/// For a key that the agent made, tries are counted for its enrollment, and run one at a time in the enrollment's
/// queue. For an existing key, tries are counted for the key, and run one at a time in the key's queue. That includes
/// `enroll`, which has no enrollment yet.
///
/// An answer says that the PIN was wrong and how many tries are left. The PIN is the only factor that is checked, so
/// the answer reveals no information about another factor (PSD2 RTS Article 4(3)(a)).
struct PINCheck: Sendable {
    let ports: DecisionPorts

    /// Counts a try of an enrollment's PIN, makes it, and takes the count back if the key was not asked.
    ///
    /// For a key that the agent made, the count stays until ``succeeded(_:)`` or another write records that the PIN was
    /// right.
    ///
    /// - Throws: `CommandError` `.userNotVerified` or `.blocked`, or `.keyUnavailable` if the enrollment has another
    ///   key by now; otherwise the errors of `attempt`.
    func tryPIN<Result: Sendable>(
        _ enrollment: Enrollment, _ attempt: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await tryPIN(subject(of: enrollment), of: enrollment, attempt)
    }

    /// Counts and makes a try for a subject, which is an enrollment or a key.
    func tryPIN<Result: Sendable>(
        _ subject: PINTries.Subject, of enrollment: Enrollment? = nil, _ attempt: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let key = subject.key else { return try await counted(subject, of: enrollment, attempt).result }
        // Several enrollments may share a token. The queue admits one try at a time, so right PINs do not count against
        // each other.
        return try await ports.keyQueues.inTurn(key) {
            // The caller may have gone away while it waited for the queue.
            try Task.checkCancellation()
            let (result, before, begun) = try await counted(subject, of: enrollment, attempt)
            try await keyOpened(subject, before: before, begun: begun)
            return result
        }
    }

    /// Resets the count after a right PIN of a key.
    ///
    /// If wrong PINs preceded it, the journal records the right one too, since it has recorded those.
    private func keyOpened(_ subject: PINTries.Subject, before: PINTries, begun: PINTries) async throws {
        try await ports.store.conclude { store in
            let now = ports.clock.now
            guard try store.setPINTries(of: subject, from: begun, to: .fresh), before != .fresh else { return }
            try store.record(.verified(subject), at: now)
        }
    }

    /// Throws `CommandError` `.blocked` if a PIN would not be tried now.
    func expectNotBlocked(_ enrollment: Enrollment) throws {
        guard enrollment.pinTries.isBlocked(at: ports.clock.now) else { return }
        throw CommandError(enrollment.pinTries, of: PINTries.Subject(enrollment.id))
    }

    /// Resets the count after a right PIN, for callers whose other writes have not done so.
    ///
    /// No other try runs in this queue, so the count has only this try and earlier ones. The count stays if the
    /// enrollment has another key by now, because the PIN is not that key's.
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

    /// Returns the subject for which an enrollment's wrong PINs are counted.
    ///
    /// A key that the agent did not make has its own subject.
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
            // The key may have tried the PIN here too: no caller waited for its answer.
            throw cancellation
        } catch {
            // The key could not be asked, so no PIN was found wrong.
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
            // Since the enrollment was read, others may have tried, and it may have ended or been damaged.
            let enrollment = try subject.enrollment.flatMap { try store.enrollment($0) }
            try enrollment?.expectWhole()
            // The PIN is tried on the key that was read, and counted in the locked row.
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
            // If the agent did not write the count, no PIN is tried now.
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
        // Throw only after the commit, so that the block stays.
        if before == .unknown { throw CommandError(unknownTriesOf: subject, blockedUntil: begun.blockedUntil) }
        return (before, begun)
    }

    private func record(_ tries: PINTries, of subject: PINTries.Subject) async throws {
        try await ports.store.conclude { store in
            if tries != tries.settled { try store.setPINTries(of: subject, from: tries, to: tries.settled) }
            try store.record(wrong: tries, of: subject, at: ports.clock.now)
        }
    }

    /// Changes the count from `old` to `new`, unless other tries were counted meanwhile.
    private func set(_ subject: PINTries.Subject, from old: PINTries, to new: PINTries) async throws {
        try await ports.store.conclude { _ = try $0.setPINTries(of: subject, from: old, to: new) }
    }
}

extension CommandError {
    /// Makes the error of a wrong PIN, which says how many tries are left.
    ///
    /// A PIN is the only factor here, so this reveals no information about another factor.
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

    /// Makes the error of a count of wrong PINs that the agent did not write, for which no PIN was tried.
    fileprivate init(unknownTriesOf subject: PINTries.Subject, blockedUntil until: Int64?) {
        self.init(
            .blocked,
            "\(subject.name) is blocked: something else than the agent has changed its count of wrong PINs in the "
                + "database; find out who writes to the database. The next try is possible at "
                + (until.map(UTCTime.text) ?? "any time") + (subject.enrollment == nil ? "" : ", a deny at any time"))
    }

    /// Makes the error of an approval without its PIN, for which no try is counted.
    init(pinWantedFor request: RequestRecord) {
        self.init(
            .pinRequired, "enrollment \(request.enrollmentId) takes a PIN for every approval, and none was given",
            request: request)
    }
}
