import IssuerProtocol
import Logging

/// Ends enrollments.
struct Unenroller: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let hub: EventHub
    let health: IssuerHealth
    let log: Logger

    /// How long decisions that wait in the outbox are given to go out first, in seconds.
    private static let outboxPatience: Double = 30

    /// Ends one enrollment; one that is over already stays so.
    ///
    /// - Parameters:
    ///   - locally: the issuer is not told.
    ///   - forced: decisions that wait in the outbox are given up.
    /// - Returns: whether it was still enrolled.
    /// - Throws: `CommandFailure` where it goes on as it was.
    func unenroll(_ id: EnrollmentID, locally: Bool, forced: Bool) async throws -> Bool {
        guard let enrollment = try await ports.book.read({ try $0.enrollment(id) }) else {
            throw CommandFailure(.notFound, "there is no enrollment \(id)")
        }
        if case .ended = enrollment.state {
            try await EndedKeys(ports: ports).remove(of: id)
            return false
        }
        health.setLeaving(id, true)
        defer { health.setLeaving(id, false) }
        if !forced { try await waitForOutbox(id) }
        if !locally { try await tellIssuer(enrollment) }
        try await end(enrollment)
        return true
    }

    private func waitForOutbox(_ id: EnrollmentID) async throws {
        let isEmpty = try await hub.wait(
            seconds: Self.outboxPatience, on: ports.clock, for: AgentEvent.isOutboxSettled
        ) {
            try await ports.book.read { try $0.outboxCount(enrollment: id) } == 0 ? true : nil
        }
        guard isEmpty == true else {
            throw CommandFailure(
                .failed, "decisions of the enrollment \(id) are still on their way: try again, or use --force")
        }
    }

    private func tellIssuer(_ enrollment: Enrollment) async throws {
        guard let membership = enrollment.membership else { return }
        do {
            let access = IssuerAccess(
                route: enrollment.route, discovery: try await directory.discovery(enrollment.route),
                token: try ports.custody.open(membership.sealedToken, for: enrollment.id))
            try await ports.gateway.unenroll(access)
        } catch let failure as IssuerFailure {
            // Where there is no enrollment any more, it has succeeded all the same.
            if case .problem(let problem) = failure,
                problem.code == .invalidToken || problem.code == .unknownAuthenticator
            {
                return
            }
            throw CommandFailure(
                .issuerUnreachable,
                "the issuer \(enrollment.route.issuer.text) was not told: \(failure.reason); "
                    + "nothing was changed (--local ends the enrollment here alone)")
        }
    }

    /// The row first, then the key: a crash in between leaves a key that the next start removes.
    private func end(_ enrollment: Enrollment) async throws {
        let id = enrollment.id
        let events = try await ports.book.write { book -> [AgentEvent] in
            guard var current = try book.enrollment(id), !current.isOver else { return [] }
            current.state = .ended(authenticatorId: current.membership?.authenticatorId, keyRemoved: false)
            try book.update(current)
            return try Self.closeRequests(of: id, in: book) + [.unenrolled(id), .deadlineMoved]
        }
        log.notice("unenrolled", metadata: enrollment.logged())
        hub.publish(events)
        try await EndedKeys(ports: ports).remove(of: id)
    }

    private static func closeRequests(of id: EnrollmentID, in book: any BookWriter) throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for entry in try book.outbox(enrollment: id) {
            if let sequence = entry.sequence { try book.removeOutbox(sequence: sequence) }
            guard let requestId = entry.requestId, var request = try book.request(requestId) else { continue }
            request.life.deliveryFailed(token: "unenrolled")
            try book.update(request)
            events.append(.requestDeliveryFailed(requestId))
        }
        while var request = try book.oldestPending(enrollment: id), request.life.cancel() {
            try book.update(request)
            events.append(.requestCancelled(request.id))
        }
        return events
    }
}
