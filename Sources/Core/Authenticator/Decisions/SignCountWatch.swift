import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import Synchronization

/// The service that compares the agent's signCounts with the issuers'.
///
/// A restored copy of the state must first raise its signCount to the issuer's, so that its next one is greater.
///
/// The issuer is asked for each enrollment once after the start, once a day, and again after it refused an assertion.
/// If the issuer cannot be asked, the agent goes on, because a refused assertion will show the fault. But after a
/// refusal, and for a state that was restored from a backup, the agent signs only after the issuer has reported which
/// signCount it accepted. Then it asks the issuer before each approval.
///
/// A greater count in the first answer after the start may mean that this state is a restored copy. A count that rises
/// later means that someone else signs with the same key, because this agent sends no signCount that is not stored.
struct SignCountWatch: AcceptedSignCounts {
    private final class Checked: Sendable {
        let ids = Mutex<Set<EnrollmentID>>([])
        /// Enrollments whose issuer has reported since the start, and whose signCount here is not below that report.
        let known = Mutex<Set<EnrollmentID>>([])
        /// The time from which an issuer that did not answer may be asked again, in seconds since 1970.
        let notBefore = Mutex<[EnrollmentID: Int64]>([:])

        /// The enrollments that have an entry in memory.
        var all: Set<EnrollmentID> {
            ids.withLock(\.self).union(known.withLock(\.self)).union(notBefore.withLock { $0.keys })
        }

        func forget(_ ended: Set<EnrollmentID>) {
            ids.withLock { $0.subtract(ended) }
            known.withLock { $0.subtract(ended) }
            notBefore.withLock { $0 = $0.filter { !ended.contains($0.key) } }
        }
    }

    /// The limit for enrollments whose issuers are asked at a time after the start.
    private static let atATime = 8
    /// Seconds for which an approval waits for the answer.
    static let patience: Double = 5
    /// Seconds after which an issuer that did not answer is asked again.
    private static let pause: Int64 = 60
    private static let day: Double = 86_400

    private let checked = Checked()
    private let ports: Ports
    private let directory: IssuerDirectory
    private let log: Logger
    /// The quota of log lines, so that an issuer that is down cannot fill the log even with many enrollments.
    private let quota: LogQuota

    init(ports: Ports, directory: IssuerDirectory, log: Logger, quota: LogQuota) {
        self.ports = ports
        self.directory = directory
        self.log = log
        self.quota = quota
    }

    /// Asks the issuers for all active enrollments at the start and once a day, until the task is cancelled.
    func run() async throws {
        while !Task.isCancelled {
            let begun = ports.clock.steady
            try await checkAll()
            try await ports.clock.sleep(seconds: Self.day, since: begun)
            checked.ids.withLock { $0 = [] }
        }
    }

    /// The enrollments that have an entry in memory.
    ///
    /// Ended enrollments are removed once a day.
    var remembered: Set<EnrollmentID> { checked.all }

    /// Asks the issuers for all active enrollments of this host, some at a time.
    ///
    /// For any other enrollment the issuer is asked before it signs. Ended enrollments are removed from memory.
    private func checkAll() async throws {
        let remembered = checked.all
        let (active, alive) = try await ports.patiently {
            try await ports.store.read { store in
                (try store.enrollmentIDs(at: .active), try store.enrollmentIDs(among: remembered))
            }
        }
        checked.forget(remembered.subtracting(alive))
        var waiting = active.filter(ports.isOurs)[...]
        await withTaskGroup { group in
            for id in waiting.prefix(Self.atATime) { group.addTask { await ensureChecked(id) } }
            waiting = waiting.dropFirst(Self.atATime)
            for await _ in group {
                // An agent that stops waits for the calls under way, and starts no more: there may be a million.
                guard !Task.isCancelled, let id = waiting.popFirst() else { continue }
                group.addTask { await ensureChecked(id) }
            }
        }
    }

    /// Returns whether the issuer must be asked before the enrollment's key signs.
    func isDue(_ id: EnrollmentID) -> Bool {
        let now = ports.clock.now
        return checked.ids.withLock { !$0.contains(id) } && checked.notBefore.withLock { $0[id] ?? now } <= now
    }

    /// Returns whether the issuer has reported since the start which signCount it accepted.
    func isKnown(_ id: EnrollmentID) -> Bool { checked.known.withLock { $0.contains(id) } }

    /// Asks the issuer unless that is not due, and returns after `patience` seconds in any case.
    ///
    /// It is not due if the issuer has answered since the last daily check, or has failed to within the last minute.
    ///
    /// - Parameter mustKnow: whether to ask even if that is not due, because a signCount was refused or restored.
    @discardableResult
    func ensureChecked(_ id: EnrollmentID, mustKnow: Bool = false) async -> SignCountInquiry {
        guard mustKnow || isDue(id) else { return .notDue }
        let trouble = await withTaskGroup(of: String?.self) { group in
            group.addTask { await ask(id) }
            group.addTask {
                _ = try? await ports.patience.sleep(seconds: Self.patience)
                return "the issuer did not answer within \(Int(Self.patience)) s"
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        // Note the failure, so that an issuer that hangs delays approvals once a minute, not each time.
        guard let trouble else { return .answered }
        checked.notBefore.withLock { $0[id] = ports.clock.now + Self.pause }
        return .failed(reason: trouble)
    }

    /// Asks the issuer again after a refused assertion that the store has recorded.
    ///
    /// The signCount may be the reason for the refusal.
    func recheck(_ id: EnrollmentID) async {
        _ = checked.ids.withLock { $0.remove(id) }
        _ = checked.notBefore.withLock { $0.removeValue(forKey: id) }
        await ensureChecked(id)
    }

    /// - Returns: the reason why the issuer could not be asked. `nil` if it was asked or need not be.
    private func ask(_ id: EnrollmentID) async -> String? {
        var issuer = ""
        do {
            guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }),
                case .active = enrollment.state, let membership = enrollment.membership
            else { return nil }
            issuer = enrollment.target.issuer.text
            let access = IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: id))
            // During the call the issuer may refuse another assertion: then this answer is too old for that refusal.
            let status = try await ports.gateway.status(access)
            try await goAbove(status.signCount, id, refused: enrollment.refusedSignCount)
            _ = checked.ids.withLock { $0.insert(id) }
            _ = checked.known.withLock { $0.insert(id) }
            _ = checked.notBefore.withLock { $0.removeValue(forKey: id) }
            return nil
        } catch let failure as IssuerError {
            logFailure(failure, of: id, at: issuer)
            return failure.reason
        } catch is StoreError {
            return "the database is in trouble"
        } catch is CancellationError {
            return "the issuer did not answer in time"
        } catch {
            log.error("a signCount could not be checked", metadata: ["enrollment": "\(id)", "reason": "\(error)"])
            return "\(error)"
        }
    }

    private func logFailure(_ failure: IssuerError, of id: EnrollmentID, at issuer: String) {
        guard let leftOut = quota.admit(issuer, at: issuer, about: "signCount", now: ports.clock.now) else { return }
        var metadata: Logger.Metadata = ["enrollment": "\(id)", "issuer": "\(issuer)", "reason": "\(failure.reason)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.info("the issuer's signCount is not known", metadata: metadata)
    }

    private func goAbove(_ accepted: UInt32, _ id: EnrollmentID, refused: UInt32?) async throws {
        let isElsewhere = checked.known.withLock { $0.contains(id) }
        let raised = try await ports.store.write { store -> SignCountRaise? in
            let now = ports.clock.now
            if let refused { try store.change(id, .signCountKnown(since: refused)) }
            guard let enrollment = try store.enrollment(id), accepted > enrollment.signCount else { return nil }
            let raise = SignCountRaise(
                from: enrollment.signCount, to: accepted, at: now,
                // Once someone else has signed, a later raise must not hide that.
                isElsewhere: isElsewhere || enrollment.signCountRaise?.isElsewhere == true)
            guard try store.change(id, .signCountRaised(raise)) != nil else { return nil }
            try store.record(.signCountRaised(id, raise), at: now)
            return raise
        }
        guard let raised else { return }
        log.error(
            isElsewhere
                ? "the issuer has accepted a signCount that this agent did not send: someone else signs with this key"
                : "the issuer has accepted a greater signCount than this state has: it is an old copy",
            metadata: ["enrollment": "\(id)", "own": "\(raised.from)", "accepted": "\(raised.to)"])
    }
}
