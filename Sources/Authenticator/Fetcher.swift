import IssuerProtocol
import Logging

/// Fetches requests: one long poll per active enrollment.
package struct Fetcher: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let intake: Intake
    let hub: EventHub
    let health: IssuerHealth
    let log: Logger

    /// The seconds for which an issuer may hold an answer back.
    private static let wait = 50
    /// The seconds after which a suspended enrollment is looked at again.
    private static let suspendedPause: Double = 3_600

    /// Works until the task is cancelled.
    package func run() async throws {
        let mailbox = hub.mailbox { event in
            if case .enrolled(let id) = event { [id] } else { [] }
        }
        let enrollments = try await ports.book.read { try $0.enrollments(includingEnded: false) }
        await KeyedWork().run(enrollments.map(\.id), then: mailbox) { id in await poll(id) }
    }

    /// Fetches all that is listed now.
    func fetchNow(_ enrollment: Enrollment) async throws {
        _ = try await fetch(enrollment, wait: 0, after: nil)
    }

    private func poll(_ id: EnrollmentID) async {
        var cursor: String?
        var backoff = Backoff(first: 1, most: 300)
        while !Task.isCancelled {
            do {
                guard let enrollment = try await ports.book.read({ try $0.enrollment(id) }) else { return }
                switch enrollment.state {
                case .keyless, .enrolling, .ended: return
                case .suspended: try await pauseSuspended(id)
                case .active: break
                }
                cursor = try await fetch(enrollment, wait: Self.wait, after: cursor)
                backoff.reset()
            } catch is CancellationError {
                return
            } catch let failure as IssuerFailure {
                if case .problem(let problem) = failure, problem.code == .unknownCursor { cursor = nil }
                guard await pause(&backoff, failure.retryAfter) else { return }
            } catch {
                log.error(
                    "fetched requests could not be kept", metadata: ["enrollment": "\(id)", "reason": "\(error)"])
                guard await pause(&backoff, nil) else { return }
            }
        }
    }

    private func pause(_ backoff: inout Backoff, _ retryAfter: Int64?) async -> Bool {
        do {
            try await ports.clock.sleep(seconds: backoff.next(retryAfter: retryAfter, entropy: ports.entropy))
            return true
        } catch {
            return false
        }
    }

    /// Waits an hour, or until a person's `fetch` found the enrollment well again, or it is over.
    private func pauseSuspended(_ id: EnrollmentID) async throws {
        let isAboutThis: @Sendable (AgentEvent) -> Bool = { event in
            switch event {
            case .resumed(id), .unenrolled(id): true
            default: false
            }
        }
        _ = try await hub.wait(seconds: Self.suspendedPause, on: ports.clock, for: isAboutThis) {
            let enrollment = try await ports.book.read { try $0.enrollment(id) }
            if case .suspended = enrollment?.state { return nil as Bool? }
            return true
        }
    }

    /// One fetch; all that came is in the book, held or dropped when it returns the cursor that comes next.
    private func fetch(_ enrollment: Enrollment, wait: Int, after cursor: String?) async throws -> String {
        guard let membership = enrollment.membership else { throw CancellationError() }
        do {
            let access = IssuerAccess(
                route: enrollment.route, discovery: try await directory.discovery(enrollment.route),
                token: try ports.custody.open(membership.sealedToken, for: enrollment.id))
            let list = try await ports.gateway.fetch(access, wait: wait, after: cursor)
            try await setKnown(true, enrollment)
            try await intake.receive(list.requests, for: enrollment)
            health.note(enrollment.id, trouble: nil)
            return list.cursor
        } catch let failure as IssuerFailure {
            // A call that was cut off because the agent stops says nothing about the issuer.
            try Task.checkCancellation()
            try await note(failure, enrollment)
            throw failure
        }
    }

    private func note(_ failure: IssuerFailure, _ enrollment: Enrollment) async throws {
        if case .problem(let problem) = failure, problem.code == .invalidToken {
            return try await setKnown(false, enrollment)
        }
        if health.note(enrollment.id, trouble: failure.reason) {
            log.warning("requests cannot be fetched", metadata: enrollment.logged(["reason": "\(failure.reason)"]))
        }
    }

    /// Writes only where it is news that the issuer knows the token, or no longer does.
    private func setKnown(_ isKnown: Bool, _ enrollment: Enrollment) async throws {
        var changed = enrollment
        guard isKnown ? changed.resume() : changed.suspend() else { return }
        let isNews = try await ports.book.write { book in
            guard var current = try book.enrollment(enrollment.id),
                isKnown ? current.resume() : current.suspend()
            else { return false }
            try book.update(current)
            return true
        }
        guard isNews else { return }
        if isKnown {
            log.notice("the issuer knows the enrollment again", metadata: enrollment.logged())
        } else {
            log.error("the issuer no longer knows the enrollment; it is suspended", metadata: enrollment.logged())
        }
        hub.publish(isKnown ? .resumed(enrollment.id) : .suspended(enrollment.id))
    }
}

extension IssuerFailure {
    fileprivate var retryAfter: Int64? {
        if case .transient(_, let retryAfter) = self { retryAfter } else { nil }
    }
}
