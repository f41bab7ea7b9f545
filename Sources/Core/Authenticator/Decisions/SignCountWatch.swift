import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import Synchronization

/// Compares the agent's signCounts with the issuers'.
///
/// A restored copy of the state goes above what an issuer has accepted before it signs again.
///
/// Each enrollment is asked for once after start, once a day, and again after its issuer refused an assertion. If the
/// issuer cannot be asked the agent goes on: an assertion that is refused will tell. But after a refusal, and for a
/// state that was restored from a backup, nothing is signed until the issuer has said which signCount it accepted: it
/// is asked before each approval.
///
/// A count that is greater at the first answer after start may be that of a restored copy. One that rises later can
/// only be another's who signs with the same key: this agent sends no number that is not in its store.
struct SignCountWatch: AcceptedSignCounts {
    private final class Checked: Sendable {
        let ids = Mutex<Set<EnrollmentID>>([])
        /// Those of whom the issuer said since start that it accepted no more than is known here.
        let known = Mutex<Set<EnrollmentID>>([])
        /// When an issuer that did not answer may be asked again; seconds since 1970.
        let notBefore = Mutex<[EnrollmentID: Int64]>([:])

        /// The enrollments that anything is remembered of.
        var all: Set<EnrollmentID> {
            ids.withLock(\.self).union(known.withLock(\.self)).union(notBefore.withLock { $0.keys })
        }

        func forget(_ ended: Set<EnrollmentID>) {
            ids.withLock { $0.subtract(ended) }
            known.withLock { $0.subtract(ended) }
            notBefore.withLock { $0 = $0.filter { !ended.contains($0.key) } }
        }
    }

    /// How many issuers are asked at a time after start.
    private static let atATime = 8
    /// The seconds for which an approval waits for the answer.
    static let patience: Double = 5
    /// The seconds after which an issuer that did not answer is asked again.
    private static let pause: Int64 = 60
    private static let day: Double = 86_400

    private let checked = Checked()
    private let ports: Ports
    private let directory: IssuerDirectory
    private let log: Logger
    /// However many enrollments an issuer has that is down, they cannot fill the log.
    private let quota: LogQuota

    init(ports: Ports, directory: IssuerDirectory, log: Logger, quota: LogQuota) {
        self.ports = ports
        self.directory = directory
        self.log = log
        self.quota = quota
    }

    /// Asks for all active enrollments at start and once a day, until the task is cancelled.
    func run() async throws {
        while !Task.isCancelled {
            let begun = ports.clock.steady
            try await checkAll()
            try await ports.clock.sleep(seconds: Self.day, since: begun)
            checked.ids.withLock { $0 = [] }
        }
    }

    /// The enrollments that anything is remembered of: those that had not ended at the last look, and newer ones.
    var remembered: Set<EnrollmentID> { checked.all }

    /// Asks for all active enrollments of this host, some at a time; any other is asked for before it signs.
    ///
    /// Forgets the enrollments that have ended.
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
                // An agent that stops waits for those that it asks, and not for a million more.
                guard !Task.isCancelled, let id = waiting.popFirst() else { continue }
                group.addTask { await ensureChecked(id) }
            }
        }
    }

    /// Whether the issuer is to be asked before the enrollment's key signs.
    func isDue(_ id: EnrollmentID) -> Bool {
        let now = ports.clock.now
        return checked.ids.withLock { !$0.contains(id) } && checked.notBefore.withLock { $0[id] ?? now } <= now
    }

    /// Whether the issuer has said since the start which signCount it accepted.
    func isKnown(_ id: EnrollmentID) -> Bool { checked.known.withLock { $0.contains(id) } }

    /// Asks the issuer unless that was done since start; returns after `patience` seconds in any case.
    ///
    /// - Parameter mustKnow: it is asked all the same, since a signCount was refused or restored.
    @discardableResult
    func ensureChecked(_ id: EnrollmentID, mustKnow: Bool = false) async -> SignCountInquiry {
        guard mustKnow || isDue(id) else { return .notDue }
        let trouble = await withTaskGroup(of: String?.self) { group in
            group.addTask { await check(id) }
            group.addTask {
                _ = try? await ports.patience.sleep(seconds: Self.patience)
                return "the issuer did not answer within \(Int(Self.patience)) s"
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        // An issuer that hangs costs an approval the patience once a minute, not each time.
        guard let trouble else { return .answered }
        checked.notBefore.withLock { $0[id] = ports.clock.now + Self.pause }
        return .failed(reason: trouble)
    }

    /// The issuer refused an assertion, and the store has noted that: the signCount may be the reason.
    func recheck(_ id: EnrollmentID) async {
        _ = checked.ids.withLock { $0.remove(id) }
        _ = checked.notBefore.withLock { $0.removeValue(forKey: id) }
        await ensureChecked(id)
    }

    /// - Returns: why the issuer could not be asked; nil if it was, or there is nothing to ask.
    private func check(_ id: EnrollmentID) async -> String? {
        var issuer = ""
        do {
            guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }),
                case .active = enrollment.state, let membership = enrollment.membership
            else { return nil }
            issuer = enrollment.target.issuer.text
            let access = IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: id))
            // While it answers, another assertion may be refused: then this answer is too old for that.
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
                // Once someone else has signed, a later raise does not make that unseen.
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
