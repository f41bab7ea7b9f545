import IssuerProtocol
import Logging
import Synchronization

/// Holds the agent's signCounts against the issuers': a restored copy of the state goes above what an issuer
/// has accepted before it signs again.
///
/// Each enrollment is asked for once after start, once a day, and again after its issuer refused an assertion. Where
/// the issuer cannot be asked the agent goes on: an assertion that is refused will tell.
///
/// A count that is greater at the first answer after start may be that of a restored copy. One that rises later can
/// only be another's who signs with the same key: this agent sends no number that is not in its book.
package struct SignCountWatch: Sendable {
    private final class Checked: Sendable {
        let ids = Mutex<Set<EnrollmentID>>([])
        /// Those of whom the issuer said since start that it accepted no more than is known here.
        let known = Mutex<Set<EnrollmentID>>([])
        /// When an issuer that did not answer may be asked again; seconds since 1970.
        let notBefore = Mutex<[EnrollmentID: Int64]>([:])
    }

    /// How many issuers are asked at a time after start.
    private static let atATime = 8
    /// The seconds for which an approval waits for the answer.
    private static let patience: Double = 5
    /// The seconds after which an issuer that did not answer is asked again.
    private static let pause: Int64 = 60
    private static let day: Double = 86_400

    private let checked = Checked()
    private let ports: Ports
    private let directory: IssuerDirectory
    private let hub: EventHub
    private let log: Logger

    init(ports: Ports, directory: IssuerDirectory, hub: EventHub, log: Logger) {
        self.ports = ports
        self.directory = directory
        self.hub = hub
        self.log = log
    }

    /// Asks for all active enrollments at start and once a day, until the task is cancelled.
    package func run() async throws {
        while !Task.isCancelled {
            try await checkAll()
            try await ports.clock.sleep(seconds: Self.day)
            checked.ids.withLock { $0 = [] }
        }
    }

    /// Asks for all active enrollments, some at a time.
    private func checkAll() async throws {
        var waiting = try await ports.patiently {
            try await ports.book.read { try $0.enrollments(includingEnded: false) }.map(\.id)[...]
        }
        await withTaskGroup { group in
            for id in waiting.prefix(Self.atATime) { group.addTask { await ensureChecked(id) } }
            waiting = waiting.dropFirst(Self.atATime)
            for await _ in group {
                guard let id = waiting.popFirst() else { continue }
                group.addTask { await ensureChecked(id) }
            }
        }
    }

    /// Asks the issuer unless that was done since start; returns after `patience` seconds in any case.
    func ensureChecked(_ id: EnrollmentID) async {
        let now = ports.clock.now
        guard checked.ids.withLock({ !$0.contains(id) }),
            checked.notBefore.withLock({ $0[id] ?? now }) <= now
        else { return }
        await withTaskGroup { group in
            group.addTask { await check(id) }
            group.addTask { _ = try? await ports.clock.sleep(seconds: Self.patience) }
            await group.next()
            group.cancelAll()
        }
        // An issuer that hangs costs an approval the patience once a minute, not each time.
        guard checked.ids.withLock({ !$0.contains(id) }) else { return }
        checked.notBefore.withLock { $0[id] = ports.clock.now + Self.pause }
    }

    /// The issuer refused an assertion: the signCount may be the reason.
    func recheck(_ id: EnrollmentID) async {
        _ = checked.ids.withLock { $0.remove(id) }
        _ = checked.notBefore.withLock { $0.removeValue(forKey: id) }
        await ensureChecked(id)
    }

    private func check(_ id: EnrollmentID) async {
        do {
            guard let enrollment = try await ports.book.read({ try $0.enrollment(id) }),
                case .active(let membership) = enrollment.state
            else { return }
            let access = IssuerAccess(
                route: enrollment.route, discovery: try await directory.discovery(enrollment.route),
                token: try ports.custody.open(membership.sealedToken, for: id))
            let status = try await ports.gateway.status(access)
            try await goAbove(status.signCount, id)
            _ = checked.ids.withLock { $0.insert(id) }
            _ = checked.known.withLock { $0.insert(id) }
            _ = checked.notBefore.withLock { $0.removeValue(forKey: id) }
        } catch let failure as IssuerFailure {
            log.info(
                "the issuer's signCount is not known", metadata: ["enrollment": "\(id)", "reason": "\(failure.reason)"])
        } catch is BookTrouble {
            // It has been noted, and the next approval asks again.
        } catch is CancellationError {
            // The agent stops, or an approval does not wait any longer.
        } catch {
            log.error("a signCount could not be checked", metadata: ["enrollment": "\(id)", "reason": "\(error)"])
        }
    }

    private func goAbove(_ accepted: UInt32, _ id: EnrollmentID) async throws {
        let now = ports.clock.now
        let isElsewhere = checked.known.withLock { $0.contains(id) }
        let raised = try await ports.book.write { book -> SignCountRaise? in
            guard let enrollment = try book.enrollment(id), accepted > enrollment.signCount else { return nil }
            let raise = SignCountRaise(
                from: enrollment.signCount, to: accepted, at: now,
                // Once someone else has signed, a later raise does not make that unseen.
                isElsewhere: isElsewhere || enrollment.signCountRaise?.isElsewhere == true)
            guard try book.change(id, .signCountRaised(raise)) != nil else { return nil }
            try book.record(.signCountRaised(id, raise), at: now)
            return raise
        }
        guard let raised else { return }
        log.error(
            isElsewhere
                ? "the issuer has accepted a signCount that this agent did not send: someone else signs with this key"
                : "the issuer has accepted a greater signCount than this state knows: it is an old copy",
            metadata: ["enrollment": "\(id)", "own": "\(raised.from)", "accepted": "\(raised.to)"])
        hub.publish(.signCountRaised(id))
    }
}
