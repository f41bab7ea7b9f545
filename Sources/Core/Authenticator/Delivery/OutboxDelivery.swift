import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables

/// The service that delivers decisions, for each credential in the order of their signCounts.
///
/// A decision is repeated byte for byte until the issuer has answered, and never sent after `exp`.
struct OutboxDelivery: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let signCountWatch: SignCountWatch
    let standing: IssuerStanding
    let hub: EventHub
    let log: Logger

    private struct Queue: Hashable {
        let enrollment: EnrollmentID
        let queue: OutboxQueue
    }

    /// Delivers decisions until the task is cancelled.
    func run() async throws {
        let calls = hub.pendingKeys { event -> [KeyedCall<Queue>] in
            if case .found(.outbox(let ids, let queue)) = event {
                return ids.map { .found(Queue(enrollment: $0, queue: queue)) }
            }
            return (event.enrollment(if: \.fillsOutbox).map(Self.queues) ?? []).map(KeyedCall.told)
        }
        await KeyedWork().perform(try await waitingHere(), then: calls) { queue in await drain(queue) }
    }

    /// Returns the queues with entries, of this host's enrollments.
    private func waitingHere() async throws -> [Queue] {
        let waiting = try await ports.patiently { try await ports.store.read { try $0.outboxEnrollments() } }
        return waiting.filter(ports.isOurs).flatMap(Self.queues)
    }

    private static func queues(of enrollment: EnrollmentID) -> [Queue] {
        OutboxQueue.allCases.map { Queue(enrollment: enrollment, queue: $0) }
    }

    /// The tries to send the head of a queue, since the agent started.
    ///
    /// Has the number of sends, the error of the last try, and which of both the store has.
    private struct Tries: Sendable {
        var times = 0
        var isRecorded = false
        var error: String?
        var recordedError: String?
    }

    /// Sends the entries of a queue, one at a time, until the queue is empty.
    private func drain(_ queue: Queue) async {
        var backoff = Backoff(first: 1, limit: 30)
        var tries = Tries()
        while !Task.isCancelled {
            do {
                guard let (entry, enrollment) = try await head(of: queue) else { return }
                let term = ports.shares?.term(of: queue.enrollment)
                let outcome = await send(entry, of: enrollment, &tries)
                var retryAfter: Int64?
                switch outcome {
                case .ended(let end):
                    let isOver = try await ports.patiently {
                        try await finish(entry, of: enrollment, with: end, in: term, after: tries)
                    }
                    if isOver {
                        backoff.reset()
                        tries = Tries()
                        continue
                    }
                case .again(let time, let error):
                    (retryAfter, tries.error) = (time, error)
                    try await recordSending(entry, &tries)
                }
                // If another host has the share, it delivers this decision, although it was made here. That host
                // learns of it from the journal, or by its periodic look.
                guard ports.isOurs(queue.enrollment) else { return }
                let pause = try backoff.next(retryAfter: retryAfter, entropy: ports.entropy)
                try await ports.clock.sleep(seconds: min(pause, Double(max(entry.exp - ports.clock.now, 0))))
                // During the pause another host may have got the share, and sends the entry now.
                guard ports.isOurs(queue.enrollment) else { return }
            } catch is CancellationError {
                return
            } catch {
                log.error("a decision waits", metadata: ["enrollment": "\(queue.enrollment)", "reason": "\(error)"])
                guard (try? await ports.clock.sleep(seconds: 5)) != nil else { return }
            }
        }
    }

    private func head(of queue: Queue) async throws -> (OutboxEntry, Enrollment)? {
        try await ports.patiently {
            try await ports.store.read { store in
                try store.outboxHead(enrollment: queue.enrollment, queue: queue.queue)
                    .flatMap { entry in try store.enrollment(entry.enrollmentId).map { (entry, $0) } }
            }
        }
    }

    private enum End: Sendable {
        case answered(TransStatus)
        /// - error: the issuer's reason, or `nil` if it gave none.
        case failed(token: String, error: String? = nil)
    }

    private enum Outcome {
        case ended(End)
        case again(retryAfter: Int64?, error: String?)
    }

    private func send(_ entry: OutboxEntry, of enrollment: Enrollment, _ tries: inout Tries) async -> Outcome {
        if let id = entry.requestId, ports.lateDecisions.contains(id) {
            return .ended(.failed(token: DeliveryState.decidedLate))
        }
        guard entry.exp > ports.clock.now else { return .ended(.failed(token: ProblemCode.expired.rawValue)) }
        // Keep the decision until the row is repaired, or the enrollment ends.
        if enrollment.isDamaged {
            return .again(retryAfter: 60, error: "its row in the database is not as the agent wrote it")
        }
        guard let membership = enrollment.membership else { return .ended(.failed(token: DeliveryState.unenrolled)) }
        // End the delivery, so that the decisions behind it do not wait for an entry that cannot be read.
        guard let body = entry.body else { return .ended(.failed(token: DeliveryState.damaged)) }
        do {
            let access = IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: enrollment.id))
            tries.times += 1
            return .ended(
                .answered(
                    try await ports.gateway.decide(
                        access, jti: entry.jti, body: body, traceparent: entry.traceparent)))
        } catch let failure as IssuerError {
            return outcome(of: failure, sending: entry, of: enrollment)
        } catch {
            log.error("an access token cannot be opened", metadata: enrollment.logged(["reason": "\(error)"]))
            return .again(retryAfter: 60, error: "its access token cannot be opened")
        }
    }

    /// Returns the outcome of a failed call; only a problem with a listed code ends the delivery.
    ///
    /// Any other failure is handled as a broken connection is.
    private func outcome(
        of failure: IssuerError, sending entry: OutboxEntry, of enrollment: Enrollment
    ) -> Outcome {
        // A call that was cancelled because the agent stops does not count as the issuer's failure.
        guard !Task.isCancelled else { return .again(retryAfter: nil, error: nil) }
        log.notice(
            "a decision was not accepted",
            metadata: enrollment.logged(["jti": "\(entry.jti.text)", "reason": "\(failure.reason)"]))
        switch failure {
        case .problem(let problem):
            guard let code = problem.code, code.endsDelivery else {
                return .again(retryAfter: nil, error: failure.reason)
            }
            return .ended(.failed(token: code.rawValue, error: failure.reason))
        case .transient(_, let retryAfter):
            return .again(retryAfter: retryAfter, error: failure.reason)
        }
    }

    /// Records once that an unanswered entry was sent, and again if it fails for another reason.
    ///
    /// An answer ends most deliveries. Then the database transaction of the end records the sending too.
    ///
    /// Trouble of the store does not delay the delivery. Then the end records the sending.
    private func recordSending(_ entry: OutboxEntry, _ tries: inout Tries) async throws {
        let isSent = tries.times > 0 && !tries.isRecorded
        let error = tries.error == tries.recordedError ?? entry.lastError ? nil : tries.error
        guard isSent || error != nil else { return }
        do {
            try await ports.store.write { store in
                let now = ports.clock.now
                if isSent { try store.record(.sent(entry), at: now) }
                if let error { try store.recordError(error, of: entry) }
            }
            tries.isRecorded = tries.isRecorded || isSent
            tries.recordedError = tries.error
        } catch is StoreError {
            // `StoreWatch` logs the trouble.
        }
    }

    /// Returns whether an end is still valid, and this host may write it.
    ///
    /// An accepted decision (`.answered`) is final, so any host may write it. Any other end, also by a problem that the
    /// issuer has answered, may be older than the result that another host has written for the entry, if that host has
    /// the share now.
    private func stands(_ end: End, of entry: OutboxEntry, in term: WorkTerm?, _ store: StoreReading) throws -> Bool {
        if case .answered = end { return true }
        // The clock may have been wrong when the entry was not sent because of its time, and right by now.
        if case .failed(ProblemCode.expired.rawValue, nil) = end, entry.exp > ports.clock.now { return false }
        guard let shares = ports.shares else { return true }
        guard let term, try store.isCurrent(term) else {
            shares.noteStaleEnd()
            return false
        }
        return true
    }

    /// - Parameter term: the term in which the entry was sent. `nil` if its share was not this host's.
    /// - Returns: `false` if the delivery has not ended.
    private func finish(
        _ entry: OutboxEntry, of enrollment: Enrollment, with end: End, in term: WorkTerm?, after tries: Tries
    ) async throws -> Bool {
        let written = try await ports.store.write { store -> (isOver: Bool, isSuspended: Bool?) in
            let now = ports.clock.now
            guard try stands(end, of: entry, in: term, store) else { return (false, nil) }
            // Another host may have got the same answer to the same bytes meanwhile.
            guard try store.isQueued(entry) else { return (true, nil) }
            return (true, try recordFailure(end, of: entry, after: tries, now: now, in: store))
        }
        guard let isSuspended = written.isSuspended else { return written.isOver }
        var metadata: Logger.Metadata = ["enrollment": "\(entry.enrollmentId)", "jti": "\(entry.jti.text)"]
        if let traceparent = entry.traceparent { metadata["traceparent"] = "\(traceparent)" }
        switch end {
        case .answered(let status): metadata["trans-status"] = "\(status.rawValue)"
        case .failed(let token, let error):
            metadata["failed"] = "\(token)"
            metadata["reason"] = (error ?? tries.error ?? entry.lastError).map { "\($0)" }
        }
        let isDamaged = if case .failed(DeliveryState.damaged, _) = end { true } else { false }
        log.log(level: isDamaged ? .error : .info, "decision delivery ended", metadata: metadata)
        if isSuspended { standing.report(isKnown: false, enrollment) }
        if case .failed(ProblemCode.invalidAssertion.rawValue, _) = end {
            await signCountWatch.recheck(entry.enrollmentId)
        }
        return true
    }

    /// - Returns: whether the enrollment was suspended now, because its issuer no longer knows it.
    private func recordFailure(
        _ end: End, of entry: OutboxEntry, after tries: Tries, now: Int64, in store: StoreTransaction
    ) throws -> Bool {
        var isSuspended = false
        let isFirst = tries.times > 0 && !tries.isRecorded
        switch end {
        case .answered(let status):
            try store.record(.answered(entry, status, times: tries.times, isFirst: isFirst), at: now)
        case .failed(let token, _):
            try store.record(.deliveryFailed(entry, token: token, times: tries.times, isFirst: isFirst), at: now)
            if token == ProblemCode.invalidToken.rawValue {
                isSuspended = try standing.record(isKnown: false, entry.enrollmentId, at: now, in: store)
            }
            if token == ProblemCode.invalidAssertion.rawValue, let count = entry.signCount {
                try store.change(entry.enrollmentId, .signCountRefused(count))
            }
        }
        switch end {
        case .answered(let status): try store.endDelivery(of: entry, as: .delivered(status), error: nil)
        case .failed(let token, let error):
            try store.endDelivery(
                of: entry, as: .failed(token: token), error: error ?? tries.error ?? entry.lastError)
        }
        return isSuspended
    }
}

extension ProblemCode {
    /// Whether this answer ends the delivery, so that the decision is not sent again.
    var endsDelivery: Bool {
        switch self {
        case .unknownRequest, .alreadyDecided, .expired, .cancelled, .invalidAssertion, .invalidToken: true
        default: false
        }
    }
}
