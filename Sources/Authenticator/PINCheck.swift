import Keys
import ThreeDS

/// Opens keys with PINs: every try is counted, and on the disk, before it is made.
///
/// To be used in the enrollment's lane, so that tries come one after the other. No answer tells more than that the user
/// was not verified, and how many tries are left (PSD2 RTS Article 4(3)(a)).
struct PINCheck: Sendable {
    let ports: Ports

    /// Counts a try, makes it, and takes it back where it was not in vain by a fault of the PIN.
    ///
    /// The count stays until ``succeeded(_:)``, or whatever else says in the book that the PIN was right.
    ///
    /// - Throws: `CommandFailure` `.userNotVerified` or `.blocked`; else what `attempt` throws.
    func run<Result: Sendable>(_ id: EnrollmentID, _ attempt: () async throws -> Result) async throws -> Result {
        let (before, begun) = try await begin(id)
        do {
            return try await attempt()
        } catch let failure as KeyFailure where failure.code == .wrongPIN {
            try await record(begun, of: id)
            throw CommandFailure(begun, of: id)
        } catch let cancellation as CancellationError {
            // Nobody knows what came of it.
            throw cancellation
        } catch {
            // No PIN was found wrong: the key could not be asked.
            try await takeBack(begun, to: before, of: id)
            throw error
        }
    }

    /// Throws `CommandFailure` `.blocked` where no PIN would be tried now.
    func expectNotBlocked(_ id: EnrollmentID) async throws {
        let now = ports.clock.now
        guard let tries = try await ports.book.read({ try $0.enrollment(id)?.pinTries }), tries.isBlocked(at: now)
        else {
            return
        }
        throw CommandFailure(tries, of: id)
    }

    /// The PIN was right, and nothing else was written about it.
    ///
    /// Nobody else tries in this lane, so whatever is counted by now was counted before.
    func succeeded(_ id: EnrollmentID) async throws {
        try await ports.book.write { book in
            guard let tries = try book.enrollment(id)?.pinTries else { return }
            try book.change(id, .pinTries(from: tries, to: .fresh))
        }
    }

    private func begin(_ id: EnrollmentID) async throws -> (before: PINTries, begun: PINTries) {
        let now = ports.clock.now
        return try await ports.book.write { book in
            guard let before = try book.enrollment(id)?.pinTries else {
                throw CommandFailure(.notFound, "there is no enrollment \(id)")
            }
            guard !before.isBlocked(at: now) else { throw CommandFailure(before, of: id) }
            let begun = before.begun(at: now)
            guard try book.change(id, .pinTries(from: before, to: begun)) != nil else {
                throw CommandFailure(.notEnrolled, "the enrollment \(id) is over")
            }
            return (before, begun)
        }
    }

    private func record(_ tries: PINTries, of id: EnrollmentID) async throws {
        let now = ports.clock.now
        try await ports.book.write { book in
            try book.record(.notVerified(id, tries), at: now)
            if tries.blockedUntil != nil { try book.record(.blocked(id, tries), at: now) }
        }
    }

    /// What was counted meanwhile stays counted.
    private func takeBack(_ begun: PINTries, to before: PINTries, of id: EnrollmentID) async throws {
        try await ports.book.write { _ = try $0.change(id, .pinTries(from: begun, to: before)) }
    }
}

extension CommandFailure {
    /// The user was not verified; says what is left, and never what was wrong.
    fileprivate init(_ tries: PINTries, of id: EnrollmentID) {
        guard let until = tries.blockedUntil else {
            let left = tries.left == 1 ? "1 try is" : "\(tries.left) tries are"
            self.init(.userNotVerified, "the user was not verified; \(left) left before enrollment \(id) is blocked")
            return
        }
        self.init(
            .blocked,
            "enrollment \(id) is blocked after \(tries.failures) tries in vain; the next one is taken at "
                + "\(UTCTime.text(until)), a deny at any time")
    }

    /// Nobody was asked for a PIN yet; no try is counted.
    init(pinWantedFor request: RequestRecord) {
        self.init(
            .pinRequired, "enrollment \(request.enrollmentId) takes a PIN for every approval, and none was given",
            request: request)
    }
}
