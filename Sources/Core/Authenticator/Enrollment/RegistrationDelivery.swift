import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// The service that sends each registration until the issuer settles it: the same bytes, also after a crash.
///
/// After ``longest`` it gives up the enrollment.
struct RegistrationDelivery: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let keys: KeyHealth
    let hub: EventHub
    let log: Logger

    /// Seconds for which a registration is repeated before the enrollment is given up.
    static let longest: Int64 = 600
    /// Seconds for which only the host that began an enrollment sends its registration.
    ///
    /// If two hosts send it at once, the issuer may answer one of them that the ceremony has ended, before any host has
    /// the result.
    static let alone: Int64 = 60

    /// Sends registrations until the task is cancelled.
    func run() async throws {
        let calls = hub.pendingKeys { event -> [KeyedCall<EnrollmentID>] in
            switch event {
            case .registrationStarted(let id): [.told(id)]
            case .found(.registrations(let ids)): ids.map(KeyedCall.found)
            default: []
            }
        }
        let waiting = try await ports.patiently {
            try await ports.store.read { try $0.enrollmentIDs(at: .enrolling) }
        }
        await KeyedWork().perform(waiting.filter(ports.isOurs), then: calls) { id in await send(id) }
    }

    private func send(_ id: EnrollmentID) async {
        var backoff = Backoff(first: 1, limit: 30)
        while !Task.isCancelled {
            do {
                guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }) else { return }
                guard case .enrolling(let body) = enrollment.state, !enrollment.isDamaged else { return }
                guard ports.clock.now.seconds(since: enrollment.startedAt) < Self.longest else {
                    return try await give(up: enrollment, "the issuer did not answer for 10 minutes")
                }
                guard case .again(let retryAfter) = try await attempt(enrollment, body) else { return }
                let pause = try backoff.next(retryAfter: retryAfter, entropy: ports.entropy)
                let remaining = enrollment.startedAt.later(by: Self.longest).seconds(since: ports.clock.now)
                try await ports.clock.sleep(seconds: min(pause, Double(max(remaining, 0))))
            } catch is CancellationError {
                return
            } catch is StoreError {
                guard (try? await ports.storeHealth.untilWell()) != nil else { return }
            } catch {
                log.error("an enrollment waits", metadata: ["enrollment": "\(id)", "reason": "\(error)"])
                guard (try? await ports.clock.sleep(seconds: 5)) != nil else { return }
            }
        }
    }

    private enum Attempt {
        case over
        case again(retryAfter: Int64?)
    }

    private func attempt(_ enrollment: Enrollment, _ body: [UInt8]) async throws -> Attempt {
        do throws(IssuerError) {
            let discovery = try await directory.discovery(enrollment.target)
            let answer = try await ports.gateway.enroll(enrollment.target, discovery, body: body)
            // During the call another caller may have ended the enrollment: then the answer has no effect.
            try await keep(answer, enrollment)
            return .over
        } catch {
            log.notice("an enrollment was not accepted", metadata: enrollment.logged(["reason": "\(error.reason)"]))
            switch error {
            case .problem(let problem) where problem.code?.endsCeremony == true:
                try await give(up: enrollment, error.reason)
                return .over
            case .problem: return .again(retryAfter: nil)
            case .transient(_, let retryAfter): return .again(retryAfter: retryAfter)
            }
        }
    }

    private func keep(_ answer: EnrollmentAnswer, _ enrollment: Enrollment) async throws(IssuerError) {
        do {
            let id = answer.authenticatorId
            let sealedToken = try ports.sealing.seal(answer.accessToken, for: enrollment.id)
            let fact = try JournalFact.enrolled(enrollment, as: answer.authenticatorId)
            let isNews = try await ports.patiently {
                try await change(enrollment.id, recording: fact) { now in
                    .registered(Membership(authenticatorId: id, sealedToken: sealedToken, enrolledAt: now))
                }
            }
            guard isNews else { return await withdraw(answer, of: enrollment) }
        } catch {
            // The issuer gives the same answer again for the same body.
            throw .transient(reason: "the enrollment could not be kept: \(error)", retryAfter: nil)
        }
        log.info("enrolled", metadata: enrollment.logged(["authenticator": "\(answer.authenticatorId.text)"]))
    }

    /// Unenrolls at the issuer if the enrollment was ended before the answer came.
    ///
    /// The call that ended it could not tell the issuer, which had given no token yet. Only one try is made: the token
    /// is stored nowhere.
    private func withdraw(_ answer: EnrollmentAnswer, of enrollment: Enrollment) async {
        do {
            let present = try await ports.patiently { try await ports.store.read { try $0.enrollment(enrollment.id) } }
            // Another host may have stored the same answer: that enrollment is used.
            guard case .ended(authenticatorId: nil)? = present?.state else { return }
            let discovery = try await directory.discovery(enrollment.target)
            try await ports.gateway.unenroll(
                IssuerAccess(target: enrollment.target, discovery: discovery, token: answer.accessToken))
        } catch {
            log.notice(
                "the issuer keeps an enrollment that has ended",
                metadata: enrollment.logged(["authenticator": "\(answer.authenticatorId.text)", "reason": "\(error)"]))
        }
    }

    private func give(up enrollment: Enrollment, _ reason: String) async throws {
        let isNews = try await change(enrollment.id, recording: .enrollmentGivenUp(enrollment.id)) { now in
            .givenUp(reason: reason, at: ports.provenTime.stamp(now))
        }
        guard isNews else { return }
        keys.forget(enrollment.id)
        log.error("an enrollment was given up", metadata: enrollment.logged(["reason": "\(reason)"]))
    }

    /// Changes an enrollment as of the time of its database transaction.
    ///
    /// - Returns: `false` if the enrollment was ended or registered by another caller during the call to its issuer, or
    ///   if its row is damaged and the change does not end it. Then it is not changed.
    private func change(
        _ id: EnrollmentID, recording fact: JournalFact,
        by transition: @escaping @Sendable (Int64) -> EnrollmentTransition
    ) async throws -> Bool {
        try await ports.store.write { store in
            let now = ports.clock.now
            guard let changed = try store.change(id, transition(now)) else { return false }
            try store.record(fact, at: now)
            // The registration that the issuer accepted contains the subscription.
            if changed.membership != nil {
                try store.registerNewestSubscription(of: id, at: now)
            } else {
                try store.removeSubscriptions(of: id, at: now)
            }
            return true
        }
    }
}

extension ProblemCode {
    /// Whether this answer makes the agent give up the enrollment, so that the registration is not sent again.
    fileprivate var endsCeremony: Bool {
        switch self {
        case .invalidRegistration, .ceremonyExpired, .invalidEnrollmentCode, .invalidRequest: true
        default: false
        }
    }
}
