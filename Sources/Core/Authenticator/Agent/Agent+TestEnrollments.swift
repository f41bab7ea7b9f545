#if Personas
import IssuerProtocol
package import Journal
package import Records
package import Signing
package import StoreTables
import Synchronization

// The operations of personas, for `test` enrollments only. Other parts of the agent call none of them.
extension Agent {
    package var store: any Store { ports.store }
    package var agentClock: any AgentClock { ports.clock }

    /// Plays the requests that are pending now or later, in one task for each, until the task is cancelled.
    package func playing(_ play: @escaping @Sendable (RequestID) async -> Void) async throws {
        // Subscribe before the read, so that no request that arrives in between is missed.
        let pendingKeys = hub.pendingKeys { event in
            event.kind?.mayBringPending == true ? [event.request].compactMap(\.self) : []
        }
        let first = try await pendingRequests()
        let played = PlayedRequests()
        try await withThrowingTaskGroup { group in
            group.addTask {
                await KeyedWork().perform(first, then: pendingKeys) { id in
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

    /// Seconds between two searches for pending requests that no event announced.
    private static let playPause: Double = 60

    private func pendingRequests() async throws -> [RequestID] {
        try await ports.patiently { try await ports.store.read { try Self.pendingRequests(in: $0) } }
    }

    /// Returns only the ids of the pending requests, because there may be many.
    private static func pendingRequests(in store: StoreReading) throws -> [RequestID] {
        var ids: [RequestID] = []
        while true {
            let page = try store.requests(
                pendingOnly: true, enrollment: nil, page: RequestPage(after: ids.last), limit: 256)
            ids += page.map(\.id)
            if page.count < 256 { return ids }
        }
    }

    /// Approves as ``decide(_:on:expecting:by:pin:of:while:)`` does, but with the assertion of `answer`.
    package func approve(
        _ id: RequestID, by approver: Approver, answering answer: any TestAnswer
    ) async throws -> RequestRecord {
        try await decider.approve(id, by: approver, answering: answer, while: DecisionLimit(on: ports.patience)).request
    }

    /// Makes an approval of a request that may already be decided or expired.
    ///
    /// It does not decide the request. Only its signCount is stored.
    package func undecidedApproval(of request: RequestRecord, by answer: any TestAnswer) async throws -> [UInt8] {
        try await decider.undecidedApproval(of: request, by: answer)
    }

    /// Sends a decision once, without the outbox, and records the result in the journal.
    ///
    /// - Returns: the issuer's answer, or the reason why there is none.
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
        try await recordPlay("sent", by: persona, request, answer)
        return answer
    }

    /// Fetches `times` times in a row, whether or not the issuer refuses, until the request expires.
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
        try await recordPlay("fetched", by: persona, request, "\(refusals) of \(times) refused")
    }

    /// Records in the journal an action of a persona that does not decide a request.
    package func recordPlay(
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

/// The pending requests that were played, so that a request that stays pending is played once.
private final class PlayedRequests: Sendable {
    private let ids = Mutex<Set<RequestID>>([])

    var value: Set<RequestID> { ids.withLock(\.self) }

    func add(_ id: RequestID) { ids.withLock { _ = $0.insert(id) } }

    /// Forgets requests that are no longer pending, and finds requests that no event announced.
    ///
    /// - Parameter before: the requests that had been played before the pending requests were read.
    /// - Returns: the pending requests that have not been played.
    func missing(of pending: Set<RequestID>, since before: Set<RequestID>) -> [RequestID] {
        ids.withLock { ids in
            ids.subtract(before.subtracting(pending))
            return Array(pending.subtracting(ids))
        }
    }
}
#endif
