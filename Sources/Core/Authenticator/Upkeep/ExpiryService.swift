import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Closes requests when they expire.
///
/// It calls nobody, so nobody can hold it up.
struct ExpiryService: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// How many rows one database transaction closes at most, so that a decision never waits long.
    private static let batch = 100
    /// The longest sleep, in seconds: a wall clock that was set meanwhile is noticed by then.
    private static let longestSleep: Double = 60

    /// Works until the task is cancelled.
    func run() async throws {
        // Enrollments that may have an earlier deadline than is known; nil: any may.
        let moved = hub.pendingKeys(Self.movedBy)
        var next: Int64?
        // The first look is at all.
        var named: Set<EnrollmentID?> = [nil]
        while !Task.isCancelled {
            do {
                // Before the look, so that a deadline that moves meanwhile is not missed.
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

    /// Closes what has expired.
    ///
    /// - Returns: the next deadline of all.
    @discardableResult
    func work() async throws -> Int64? { try await work(next: nil, moved: [nil]) }

    /// - Parameters:
    ///   - next: the next deadline as it was known.
    ///   - moved: the enrollments that may have an earlier one since; nil: any may.
    private func work(next: Int64?, moved: Set<EnrollmentID?>) async throws -> Int64? {
        var next = try await deadline(next, moved)
        while let due = next, due <= ports.clock.now {
            try await expire()
            next = try await deadline(nil, [nil])
        }
        return next
    }

    /// A look at all that is pending is made at the start, and when a deadline has come: not for each new request.
    private func deadline(_ known: Int64?, _ moved: Set<EnrollmentID?>) async throws -> Int64? {
        let now = ports.clock.now
        return try await ports.store.read { store in
            if moved.contains(nil) { return try store.nextDeadline() }
            let found = try moved.compactMap { try $0.flatMap(store.nextDeadline(of:)) }
            let next = (found + [known].compactMap(\.self)).min()
            // That request may have been decided since, and then nothing is to be written.
            if let next, next <= now { return try store.nextDeadline() }
            return next
        }
    }

    private func expire() async throws {
        try await ports.store.write { store in
            let now = ports.clock.now
            try store.removeCancellations(until: ports.provenTime.now)
            for due in try store.duePending(now: now, limit: Self.batch) {
                // As it is now that its enrollment is held: another host may have decided it since the look, or a newer
                // message with a later exp may have taken its place.
                guard var request = try store.request(due.id), let exp = request.exp, exp <= now, request.life.expire()
                else { continue }
                try store.updateLife(of: request)
                try store.record(.expired(request), at: now)
            }
        }
    }
}
