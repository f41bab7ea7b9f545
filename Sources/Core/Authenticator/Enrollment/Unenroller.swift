import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables

/// The command that ends enrollments.
struct Unenroller: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let hub: EventHub
    let health: IssuerHealth
    let keys: KeyHealth
    let tally: PushTally
    let log: Logger

    /// The longest wait for the outbox to empty, in seconds.
    private static let outboxPatience: Double = 30
    /// Seconds for which a caller waits for an erasure, which goes on without the caller.
    private static let erasurePatience: Double = 60

    /// Ends one enrollment.
    ///
    /// Does nothing to an ended enrollment, except an erasure.
    ///
    /// - Parameters:
    ///   - locally: whether to end it without a call to the issuer.
    ///   - forced: whether to give up the decisions in the outbox, without a wait for their delivery.
    ///   - erasing: whether to erase its personal data too, also if it had already ended.
    /// - Throws: `CommandError` if the enrollment was not ended, and the errors of the store and of unsealing.
    func unenroll(_ id: EnrollmentID, locally: Bool, forced: Bool, erasing: Bool) async throws -> Unenrollment {
        guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }) else {
            throw CommandError(.notFound, "there is no enrollment \(id)")
        }
        if enrollment.isOver {
            if erasing { try await ports.store.write { try $0.wantErasure(of: id) } }
        } else {
            health.setLeaving(id, true)
            defer { health.setLeaving(id, false) }
            if !forced { try await waitForOutbox(id) }
            // A damaged row may name another issuer.
            if !locally { try enrollment.expectWhole() }
            if !locally { try await tellIssuer(enrollment) }
            // During these waits another caller may have ended it, which `end` checks. Requests and decisions may have
            // come, which `end` closes.
            try await end(enrollment, erasing: erasing)
        }
        return Unenrollment(wasEnrolled: !enrollment.isOver, isErased: erasing ? try await waitForErasure(id) : nil)
    }

    /// Asks the ``DataRetention`` for the erasure, and waits for it for at most ``erasurePatience`` seconds.
    ///
    /// - Returns: whether the personal data is erased.
    private func waitForErasure(_ id: EnrollmentID) async throws -> Bool {
        hub.publish(.erasureWanted(id))
        let isErased = try await hub.wait(
            seconds: Self.erasurePatience, on: ports.patience, for: { $0.tells(.erased, of: id) }
        ) {
            try await ports.store.read { try $0.isErased(id) } ? true : nil
        }
        return isErased == true
    }

    private func waitForOutbox(_ id: EnrollmentID) async throws {
        let isEmpty = try await hub.wait(
            seconds: Self.outboxPatience, on: ports.patience, for: { $0.kind?.emptiesOutbox == true }
        ) {
            try await ports.store.read { try $0.outboxCount(enrollment: id) } == 0 ? true : nil
        }
        guard isEmpty == true else {
            throw CommandError(
                .failed, "decisions of the enrollment \(id) are still on their way: try again, or use --force")
        }
    }

    private func tellIssuer(_ enrollment: Enrollment) async throws {
        guard let membership = enrollment.membership else { return }
        do {
            let access = IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: enrollment.id))
            try await ports.gateway.unenroll(access)
        } catch let failure as IssuerError {
            // If the issuer no longer has the enrollment, the call has succeeded too.
            if case .problem(let problem) = failure,
                problem.code == .invalidToken || problem.code == .unknownAuthenticator
            {
                return
            }
            throw CommandError(
                .issuerUnreachable,
                "the issuer \(enrollment.target.issuer.text) was not told: \(failure.reason); "
                    + "nothing was changed (--local ends the enrollment here alone)")
        }
    }

    /// Ends the enrollment, which deletes its key if the agent made it.
    private func end(_ enrollment: Enrollment, erasing: Bool) async throws {
        let id = enrollment.id
        let isNews = try await ports.store.write { store in
            let now = ports.clock.now
            if erasing { try store.wantErasure(of: id) }
            guard try store.change(id, .ended(at: ports.provenTime.stamp(now))) != nil else { return false }
            try store.record(.unenrolled(id), at: now)
            try store.removeSubscriptions(of: id, at: now)
            try Self.closeRequests(of: id, at: now, in: store)
            return true
        }
        guard isNews else { return }
        log.notice("unenrolled", metadata: enrollment.logged())
        tally.close(id)
        health.forget(id)
        keys.forget(id)
    }

    private static func closeRequests(of id: EnrollmentID, at now: Int64, in store: StoreTransaction) throws {
        for entry in try store.outbox(enrollment: id) {
            try store.record(.deliveryFailed(entry, token: DeliveryState.unenrolled), at: now)
            try store.endDelivery(
                of: entry, as: .failed(token: DeliveryState.unenrolled), error: entry.lastError)
        }
        while var request = try store.oldestPending(enrollment: id), request.life.cancel() {
            try store.updateLife(of: request)
            try store.record(.cancelled(request), at: now)
        }
    }
}
