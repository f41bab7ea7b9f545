import FairSharing
package import IssuerProtocol
import Journal
import Keys
import Logging
package import Records
import StoreTables
import Synchronization

/// The receiver of pushes.
///
/// A message is handled as a polled message is. A hint starts a fetch.
package struct PushReception: Sendable {
    /// The endpoint of this agent to which a push was sent.
    package struct Target: Sendable {
        fileprivate let subscription: KeptSubscription
        fileprivate let enrollment: Enrollment
    }

    let ports: Ports
    let settings: PushSettings
    let intake: Intake
    let hub: EventHub
    let tally: PushTally
    let badPeers: LogQuota
    let log: Logger
    /// The connections of the server that passes the pushes on.
    package let connections = PortTally()
    private let limits: PushLimits

    init(
        ports: Ports, settings: PushSettings, intake: Intake, hub: EventHub, tally: PushTally, badPeers: LogQuota,
        log: Logger
    ) {
        self.ports = ports
        self.settings = settings
        self.intake = intake
        self.hub = hub
        self.tally = tally
        self.badPeers = badPeers
        self.log = log
        limits = PushLimits(settings.rates)
    }

    /// Finds the endpoint with this path, before any other part of the push is read.
    ///
    /// - Throws: the answer, if the endpoint does not exist or too many pushes came.
    package func target(_ path: String) async throws(PushAnswer) -> Target {
        guard let token = PushToken(path: path), let digest = try? token.digest else { throw .unknownEndpoint }
        let found = try await taking {
            try await ports.store.read { store -> Target? in
                guard let kept = try store.subscription(tokenDigest: digest),
                    let enrollment = try store.enrollment(kept.enrollmentId), enrollment.membership != nil
                else { return nil }
                return Target(subscription: kept, enrollment: enrollment)
            }
        }
        guard let found, ConstantTime.equal(found.subscription.tokenDigest, digest) else { throw .unknownEndpoint }
        if let seconds = limits.count(found.enrollment.id, now: ports.clock.now) {
            tally.noteRefused(found.enrollment.id)
            throw .tooMany(retryAfter: seconds)
        }
        return found
    }

    /// Receives a push, which is stored, deferred or dropped for good when this returns.
    ///
    /// - Parameter body: accepted up to `PushInbox.maxBytes`.
    /// - Returns: the URL of the message for the `Location` field. The agent serves no resource there.
    package func receive(
        _ fields: PushFields, body: [UInt8], at target: Target
    ) async throws(PushAnswer) -> String {
        let message = try read(body, fields: fields, at: target)
        let id = target.enrollment.id
        if tally.notePush(id, at: ports.clock.now) {
            log.notice("pushes arrive: polls are less frequent", metadata: target.enrollment.logged())
        }
        switch message.body {
        case .hint: hub.publish(.fetchWanted(id))
        case .message(let jws):
            _ = try await taking { try await intake.receive([jws], for: target.enrollment, by: .push, isListed: false) }
        }
        let name = try await taking { try RequestID(random: ports.entropy) }
        return "\(target.subscription.endpoint.origin)/message/\(name)"
    }

    /// Receives a message that came without Web Push, such as in a notification of another system.
    ///
    /// The sender need not be trusted, because the issuer has signed the message.
    ///
    /// - Returns: `false` if the text does not have the form of a message. Then it is ignored.
    package func receive(message: String, for enrollment: Enrollment) async throws(PushAnswer) -> Bool {
        guard case .message(let jws) = PushBody(Array(message.utf8)) else { return false }
        _ = try await taking { try await intake.receive([jws], for: enrollment, by: .push, isListed: false) }
        return true
    }

    /// Counts a push that was rejected, and logs at most one line for each peer and pause.
    ///
    /// - Parameter target: `nil` if ``target(_:)`` threw the answer.
    package func recordRejection(_ answer: PushAnswer, from peer: String, at target: Target?) {
        if let target { tally.noteRefused(target.enrollment.id) }
        // Anyone can send to an unknown endpoint from any number of addresses: all of them count as one peer.
        let sender = answer == .unknownEndpoint ? "push" : "push \(peer)"
        guard let leftOut = badPeers.admit(sender, now: ports.clock.now) else { return }
        log.warning(
            "a push was rejected",
            metadata: [
                "peer": "\(peer)", "status": "\(answer.status)", "reason": "\(answer.reason)",
                "because": "\(answer.detail)", "left-out": "\(leftOut)",
            ])
    }

    private func read(_ body: [UInt8], fields: PushFields, at target: Target) throws(PushAnswer) -> PushMessage {
        let inbox: PushInbox
        do {
            let kept = target.subscription
            let rule: VAPIDRule =
                settings.isVAPIDUpstream ? .upstream : .required(try VAPIDKey(point: kept.vapidKey))
            inbox = PushInbox(
                endpoint: kept.endpoint, key: try ports.sealing.openPushKey(kept.sealedKey, for: kept.enrollmentId),
                vapid: rule)
        } catch {
            log.error("a push key cannot be opened", metadata: target.enrollment.logged(["reason": "\(error)"]))
            throw .unavailable
        }
        return try inbox.read(fields, body: body, now: ports.clock.now)
    }

    /// Runs `work`, and throws `.unavailable` if it fails, since a later try may succeed.
    private func taking<T: Sendable>(_ work: () async throws -> T) async throws(PushAnswer) -> T {
        do {
            return try await work()
        } catch let failure as IssuerError {
            log.notice("a push waits for the issuer's keys", metadata: ["reason": "\(failure.reason)"])
        } catch is StoreError {
            // `WatchedStore` has recorded the trouble.
        } catch {
            log.error("a push could not be stored", metadata: ["reason": "\(error)"])
        }
        throw .unavailable
    }
}

/// The rate limits of pushes: for each endpoint, and for all together.
private final class PushLimits: Sendable {
    /// The limit for enrollments that have a rate of their own at a time; all others share one rate.
    private static let maxKeys = 100_000

    private struct State {
        var all: RateLimit<Bool>
        var ofEnrollment: RateLimit<EnrollmentID>
    }

    private let state: Mutex<State>

    init(_ rates: PushRates) {
        state = Mutex(
            State(
                all: RateLimit(aMinute: rates.inAll, maxKeys: 1),
                ofEnrollment: RateLimit(aMinute: rates.ofEndpoint, maxKeys: Self.maxKeys)))
    }

    /// Counts a push to an endpoint against the limits.
    ///
    /// A push above the limit of its endpoint does not count against the common limit.
    ///
    /// - Returns: `nil` if the push is admitted, otherwise the seconds until one would be.
    func count(_ id: EnrollmentID, now: Int64) -> Int64? {
        state.withLock { state in
            let now: Duration = .seconds(now)
            return (state.ofEnrollment.spend(id, now: now) ?? state.all.spend(true, now: now)).map(Int64.init)
        }
    }
}

extension RateLimit {
    /// Allows `aMinute` pushes in a minute, and as many at once.
    fileprivate init(aMinute: Int64, maxKeys: Int) {
        self.init(burst: Int(clamping: aMinute), every: .seconds(60) / aMinute, maxKeys: maxKeys)
    }
}
