#if Personas
import IssuerProtocol
package import Journal
package import Records
package import Signing
package import StoreTables
import Synchronization

// What personas may do, for `test` enrollments and no others. Honest parts call nothing of it.
extension Agent {
    package var store: any Store { ports.store }
    package var agentClock: any AgentClock { ports.clock }

    /// Plays requests that are pending now and that may be from now on, one task for each, until the task is cancelled.
    package func playing(_ play: @escaping @Sendable (RequestID) async -> Void) async throws {
        // Listening begins before the look, so nothing can come in between unseen.
        let pendingKeys = hub.pendingKeys { event in
            event.kind?.mayBringPending == true ? [event.request].compactMap(\.self) : []
        }
        let first = try await pendingRequests()
        let played = PlayedRequests()
        try await withThrowingTaskGroup { group in
            group.addTask {
                await KeyedWork().run(first, then: pendingKeys) { id in
                    played.add(id)
                    await play(id)
                }
            }
            group.addTask { [self] in
                while true {
                    try await ports.clock.sleep(seconds: Self.playPause, orUntil: hub.notifier(for: \.isGap))
                    let before = played.value
                    pendingKeys.add(played.missing(of: Set(try await pendingRequests()), since: before))
                }
            }
            try await group.waitForAll()
        }
        try Task.checkCancellation()
    }

    /// The seconds between two looks for requests that nobody was told of.
    private static let playPause: Double = 60

    private func pendingRequests() async throws -> [RequestID] {
        try await ports.patiently { try await ports.store.read { try Self.pendingRequests(in: $0) } }
    }

    /// Their ids alone: there may be many.
    private static func pendingRequests(in store: StoreReading) throws -> [RequestID] {
        var ids: [RequestID] = []
        while true {
            let page = try store.requests(
                pendingOnly: true, enrollment: nil, page: RequestPage(after: ids.last), limit: 256)
            ids += page.map(\.id)
            if page.count < 256 { return ids }
        }
    }

    /// Approves as ``decide(_:on:expecting:by:pin:of:while:)`` does, with another assertion.
    package func approve(
        _ id: RequestID, by approver: Approver, answering answer: any TestAnswer
    ) async throws -> RequestRecord {
        try await decider.approve(id, by: approver, answering: answer, while: Wanted(on: ports.patience)).request
    }

    /// An approval of a request that may be over: nothing is decided by it and nothing kept but its signCount.
    package func undecidedApproval(of request: RequestRecord, by answer: any TestAnswer) async throws -> [UInt8] {
        try await decider.undecidedApproval(of: request, by: answer)
    }

    /// Sends a decision past the outbox, once, and says in the journal what came of it.
    ///
    /// - Returns: the issuer's answer, or why there is none.
    @discardableResult
    package func send(
        _ body: [UInt8], for request: RequestRecord, by persona: String
    ) async throws -> String {
        let answer: String
        do throws(IssuerError) {
            let access = try await access(to: request.enrollmentId)
            answer = try await ports.gateway.decide(
                access, jti: request.jti, body: body, traceparent: request.traceparent
            ).rawValue
        } catch {
            answer = error.reason
        }
        try await note("sent", by: persona, request, answer)
        return answer
    }

    /// Fetches so often in a row, whatever the issuer answers to it, but not after the request has expired.
    package func fetchTooOften(times: Int, for request: RequestRecord, by persona: String) async throws {
        var refusals = 0
        for _ in 0..<times where ports.clock.now < request.exp ?? 0 {
            do throws(IssuerError) {
                _ = try await ports.gateway.fetch(
                    try await access(to: request.enrollmentId), wait: 0, after: nil)
            } catch {
                refusals += 1
            }
            try Task.checkCancellation()
        }
        try await note("fetched", by: persona, request, "\(refusals) of \(times) refused")
    }

    /// Says in the journal what a persona did that is no decision.
    package func note(
        _ what: String, by persona: String, _ request: RequestRecord, _ answer: String? = nil
    ) async throws {
        let clock = ports.clock
        try await ports.store.write {
            try $0.record(.played(what, by: persona, request, answer: answer), at: clock.now)
        }
    }

    private func access(to id: EnrollmentID) async throws(IssuerError) -> IssuerAccess {
        do {
            guard let enrollment = try await enrollment(id), enrollment.isPlayable,
                let membership = enrollment.membership
            else { throw IssuerError.transient(reason: "the enrollment is over", retryAfter: nil) }
            return IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: id))
        } catch let error as IssuerError {
            throw error
        } catch {
            throw .transient(reason: "\(error)", retryAfter: nil)
        }
    }
}

/// The pending requests that were played: one that stays pending is not played again.
private final class PlayedRequests: Sendable {
    private let ids = Mutex<Set<RequestID>>([])

    var value: Set<RequestID> { ids.withLock(\.self) }

    func add(_ id: RequestID) { ids.withLock { _ = $0.insert(id) } }

    /// Forgets those that are over.
    ///
    /// - Parameter before: those that had been played when it was looked what is pending.
    /// - Returns: those that nobody was told of.
    func missing(of pending: Set<RequestID>, since before: Set<RequestID>) -> [RequestID] {
        ids.withLock { ids in
            ids.subtract(before.subtracting(pending))
            return Array(pending.subtracting(ids))
        }
    }
}
#endif
