import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Background task that closes requests when they expire.
///
/// It makes no network calls, so no peer can delay it.
struct ExpiryService: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// The most rows that one database transaction closes, so that a decision never waits long.
    private static let batch = 100
    /// The longest sleep, in seconds.
    ///
    /// A change of the wall clock is noticed by then.
    private static let longestSleep: Double = 60

    /// Works until the task is cancelled.
    func run() async throws {
        // The enrollments whose next deadline may have become earlier. `nil` stands for all enrollments.
        let moved = hub.pendingKeys(Self.movedBy)
        var next: Int64?
        // The first search is for all enrollments.
        var named: Set<EnrollmentID?> = [nil]
        while !Task.isCancelled {
            do {
                // The notifier begins before the search, so that a deadline that moves meanwhile is not missed.
                let notifier = hub.notifier { !Self.movedBy($0).isEmpty }
                named.formUnion(moved.takeAll())
                next = try await ports.patiently { [next, named] in try await work(next: next, moved: named) }
                named = []
                let pause = next.map { Double($0.seconds(since: ports.clock.now)) } ?? Self.longestSleep
                try await ports.clock.sleep(seconds: min(pause, Self.longestSleep), orUntil: notifier)
            } catch is CancellationError {
                return
            } catch {
                log.error("expired requests could not be closed", metadata: ["reason": "\(error)"])
                named = [nil]
                try await ports.clock.sleep(seconds: 5)
            }
        }
    }

    private static func movedBy(_ event: AgentEvent) -> [EnrollmentID?] {
        if case .found(.expiredRequests) = event { return [nil] }
        return event.kind?.movesDeadline == true ? [event.enrollment { $0.movesDeadline }] : []
    }

    /// Closes all expired requests.
    ///
    /// - Returns: the next deadline of all enrollments.
    @discardableResult
    func work() async throws -> Int64? { try await work(next: nil, moved: [nil]) }

    /// - Parameters:
    ///   - next: the next deadline that is known.
    ///   - moved: the enrollments whose next deadline may have become earlier since. `nil` stands for all enrollments.
    private func work(next: Int64?, moved: Set<EnrollmentID?>) async throws -> Int64? {
        var next = try await deadline(next, moved)
        while let due = next, due <= ports.clock.now {
            try await expire()
            next = try await deadline(nil, [nil])
        }
        return next
    }

    /// Finds the next deadline.
    ///
    /// All pending requests are searched at the start and when a deadline has come, but not for each new request.
    private func deadline(_ known: Int64?, _ moved: Set<EnrollmentID?>) async throws -> Int64? {
        let now = ports.clock.now
        return try await ports.store.read { store in
            if moved.contains(nil) { return try store.nextDeadline() }
            let found = try moved.compactMap { try $0.flatMap(store.nextDeadline(of:)) }
            let next = (found + [known].compactMap(\.self)).min()
            // The request with the known deadline may have been decided since. Then there must be no write.
            if let next, next <= now { return try store.nextDeadline() }
            return next
        }
    }

    private func expire() async throws {
        try await ports.store.write { store in
            let now = ports.clock.now
            try store.removeCancellations(until: ports.provenTime.now)
            for due in try store.duePending(now: now, limit: Self.batch) {
                // Read again now that its enrollment is locked: another host may have decided the request since the
                // search, or a newer message with a later exp may have replaced its message.
                guard var request = try store.request(due.id), let exp = request.exp, exp <= now, request.life.expire()
                else { continue }
                try store.updateLife(of: request)
                try store.record(.expired(request), at: now)
            }
        }
    }
}
