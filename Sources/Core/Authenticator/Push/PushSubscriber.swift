import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import StoreTables

/// Updates each issuer's push subscription: registers, replaces or ends it.
///
/// A new subscription is in the store before the issuer learns of it, and the old one stays until the issuer has
/// answered. So pushes to both are accepted, and after a crash the same subscription is sent again.
struct PushSubscriber: Sendable {
    let ports: Ports
    let maker: PushMaker
    let directory: IssuerDirectory
    let hub: EventHub
    let log: Logger

    /// The most issuers that are called at a time.
    private static let atATime = 8
    /// The seconds between two checks whether an issuer's key has changed.
    private static let day: Double = 86_400
    /// The longest wait of a person for the issuers, in seconds.
    ///
    /// The work continues after it.
    private static let patience: Double = 30

    /// Updates all subscriptions at start and once a day, else changed ones, until the task is cancelled.
    func run() async throws {
        let pendingKeys = hub.pendingKeys { Self.changed($0) + Self.found($0) }
        var backoff = Backoff(first: 1, limit: 300)
        // On the steady clock, so that a full update runs each day, however often changes come between.
        var lookedAt = ports.clock.steady
        var due = try await all()
        while !Task.isCancelled {
            let told = hub.notifier { !Self.changed($0).isEmpty }
            let toldOrFound = hub.notifier { !Self.changed($0).isEmpty || !Self.found($0).isEmpty }
            due.formUnion(pendingKeys.takeAll())
            due = await settleAll(due)
            if due.isEmpty { backoff.reset() }
            let untilAll = max(lookedAt + Self.day - ports.clock.steady, 0)
            let pause = due.isEmpty ? untilAll : try backoff.next(retryAfter: nil, entropy: ports.entropy)
            // Each periodic look finds a failed subscription again. It must wait for its pause.
            try await ports.clock.sleep(seconds: pause, orUntil: due.isEmpty ? toldOrFound : told)
            if ports.clock.steady >= lookedAt + Self.day {
                lookedAt = ports.clock.steady
                due.formUnion(try await all())
            }
        }
    }

    @Sendable private static func changed(_ event: AgentEvent) -> [EnrollmentID] {
        switch event {
        case .journaled(.enrolled, of: let id?, _), .journaled(.resumed, of: let id?, _), .pushRotated(let id): [id]
        default: []
        }
    }

    @Sendable private static func found(_ event: AgentEvent) -> [EnrollmentID] {
        if case .found(.subscriptions(let ids)) = event { ids } else { [] }
    }

    private func all() async throws -> Set<EnrollmentID> {
        // An agent without push only ends the subscriptions that an earlier configuration has left.
        let stage: EnrollmentStage = maker.settings == nil ? .subscribed : .active
        return try await ports.patiently {
            Set(try await ports.store.read { try $0.enrollmentIDs(at: stage) }.filter(ports.isOurs))
        }
    }

    /// Makes a new subscription for each enrollment, and waits a while for the issuers.
    ///
    /// - Returns: the enrollments whose issuer has not answered yet. The agent continues to try for them.
    func rotate(
        _ enrollments: [Enrollment], noting note: (Int) async throws -> Void
    ) async throws -> [EnrollmentID] {
        let ids = try await begin(enrollments, noting: note)
        guard !ids.isEmpty else { throw Self.nothingToRotate }
        hub.publish(ids.map(AgentEvent.pushRotated))
        let open = try await hub.wait(
            seconds: Self.patience, on: ports.patience, for: { if case .pushSettled = $0 { true } else { false } }
        ) { () -> [EnrollmentID]? in
            try await unregistered(ids).isEmpty ? [] : nil
        }
        if let open { return open }
        return try await unregistered(ids)
    }

    /// Updates the subscription of an enrollment to the present address.
    ///
    /// - Returns: whether the issuer was told in time. If not, the agent continues to try.
    func resettle(_ id: EnrollmentID) async throws -> Bool {
        let notifier = hub.notifier { if case .pushSettled(id) = $0 { true } else { false } }
        hub.publish(.pushRotated(id))
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in notifier { return true }
                return false
            }
            group.addTask {
                try await ports.patience.sleep(seconds: Self.patience)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// Makes new subscriptions for all enrollments or for none.
    ///
    /// Each issuer is called first, and all subscriptions are stored together, so that an unreachable issuer leaves no
    /// partial change.
    private func begin(
        _ enrollments: [Enrollment], noting note: (Int) async throws -> Void
    ) async throws -> [EnrollmentID] {
        var made: [KeptSubscription] = []
        for enrollment in enrollments {
            guard let (kept, _) = try maker.make(for: enrollment, try await discovery(of: enrollment)) else { continue }
            made.append(kept)
        }
        guard !made.isEmpty else {
            throw Self.nothingToRotate
        }
        try await note(made.count)
        // While the issuers were called and this was recorded, an enrollment may have ended. It gets no subscription.
        let new = made
        return try await ports.store.write { store in
            let now = ports.clock.now
            return try new.filter { try store.begin($0, at: now) }.map(\.enrollmentId)
        }
    }

    private static var nothingToRotate: CommandError {
        CommandError(.invalidArgument, "nothing to rotate: the issuer does not push, or must not (--no-push)")
    }

    private func discovery(of enrollment: Enrollment) async throws(CommandError) -> Discovery {
        do throws(IssuerError) {
            return try await directory.discovery(enrollment.target)
        } catch {
            throw CommandError(.issuerUnreachable, "the issuer \(enrollment.target.issuer.text): \(error.reason)")
        }
    }

    private func unregistered(_ ids: [EnrollmentID]) async throws -> [EnrollmentID] {
        try await ports.store.read { store in
            try ids.filter { try store.subscriptions(of: $0).last?.isRegistered == false }
        }
    }
}

// MARK: One enrollment

extension PushSubscriber {
    /// Updates each subscription, and returns the enrollments for which that failed.
    private func settleAll(_ ids: Set<EnrollmentID>) async -> Set<EnrollmentID> {
        var waiting = Array(ids)[...]
        return await withTaskGroup(of: EnrollmentID?.self) { tasks in
            for id in waiting.prefix(Self.atATime) { tasks.addTask { await didSettle(id) ? nil : id } }
            waiting = waiting.dropFirst(Self.atATime)
            var failed: Set<EnrollmentID> = []
            for await open in tasks {
                if let open { failed.insert(open) }
                guard let id = waiting.popFirst() else { continue }
                tasks.addTask { await didSettle(id) ? nil : id }
            }
            return failed
        }
    }

    private func didSettle(_ id: EnrollmentID) async -> Bool {
        do {
            try await settle(id)
            hub.publish(.pushSettled(id))
            return true
        } catch is CancellationError {
            return false
        } catch let failure as IssuerError {
            log.notice(
                "the push subscription could not be updated",
                metadata: ["enrollment": "\(id)", "reason": "\(failure.reason)"])
            return false
        } catch {
            log.error(
                "the push subscription could not be updated", metadata: ["enrollment": "\(id)", "reason": "\(error)"])
            return false
        }
    }

    private func settle(_ id: EnrollmentID) async throws {
        let (found, kept) = try await ports.store.read { (try $0.enrollment(id), try $0.subscriptions(of: id)) }
        guard let enrollment = found, case .active = enrollment.state, let membership = enrollment.membership,
            maker.settings != nil || !kept.isEmpty
        else { return }
        let discovery = try await directory.discovery(enrollment.target)
        let access = IssuerAccess(
            target: enrollment.target, discovery: discovery,
            token: try ports.sealing.open(membership.sealedToken, for: id))
        guard let vapidKey = maker.vapidKey(for: enrollment, discovery) else {
            return try await unsubscribe(kept, of: enrollment, access)
        }
        if let newest = kept.last, maker.fits(newest, vapidKey: vapidKey) {
            guard !newest.isRegistered else { return }
            return try await register(try subscription(newest), of: enrollment, access)
        }
        guard let (new, sent) = try maker.make(for: enrollment, discovery) else { return }
        // While the issuer was asked for its key, the enrollment may have ended.
        guard try await ports.store.write({ try $0.begin(new, at: ports.clock.now) }) else { return }
        try await register(sent, of: enrollment, access)
    }

    private func subscription(_ kept: KeptSubscription) throws -> PushSubscription {
        let key = try ports.sealing.openPushKey(kept.sealedKey, for: kept.enrollmentId)
        return PushSubscription(endpoint: kept.endpoint, recipient: key.recipient)
    }

    private func register(
        _ subscription: PushSubscription, of enrollment: Enrollment, _ access: IssuerAccess
    ) async throws {
        try await ports.gateway.subscribe(access, subscription)
        let endpoint = subscription.endpoint
        try await ports.store.write { store in
            // A subscription that was made meanwhile is still to be sent.
            guard try store.subscriptions(of: enrollment.id).last?.endpoint == endpoint else { return }
            try store.registerNewestSubscription(of: enrollment.id, at: ports.clock.now)
        }
        log.info("the issuer has the push subscription", metadata: enrollment.logged(["origin": "\(endpoint)"]))
    }

    private func unsubscribe(_ kept: [KeptSubscription], of enrollment: Enrollment, _ access: IssuerAccess) async throws
    {
        guard !kept.isEmpty else { return }
        try await ports.gateway.unsubscribe(access)
        try await ports.store.write { try $0.removeSubscriptions(of: enrollment.id, at: ports.clock.now) }
        log.info("the push subscription was ended", metadata: enrollment.logged())
    }
}
