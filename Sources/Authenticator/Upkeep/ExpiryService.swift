import Logging
import ThreeDS

/// Closes requests when they expire.
///
/// It calls nobody, so nobody can hold it up.
package struct ExpiryService: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// How many rows one database transaction closes at most, so that a decision never waits long.
    private static let batch = 100
    /// The longest sleep, in seconds: a wall clock that was set meanwhile is noticed by then.
    private static let longestSleep: Double = 60

    /// Works until the task is cancelled.
    package func run() async throws {
        while !Task.isCancelled {
            do {
                try await ports.patiently {
                    try await hub.wait(seconds: Self.longestSleep, on: ports.clock, untilNews: work)
                }
            } catch is CancellationError {
                return
            } catch {
                log.error("expired requests could not be closed", metadata: ["reason": "\(error)"])
                try await ports.clock.sleep(seconds: 5)
            }
        }
    }

    /// Does what is due, and says in how many seconds the next is.
    @discardableResult
    func work() async throws -> Double? {
        while true {
            let now = ports.clock.now
            // A look costs nothing; a write is made only if something is due.
            guard let next = try await ports.store.read({ try $0.nextDeadline() }) else { return nil }
            guard next <= now else { return Double(next.seconds(since: now)) }
            try await expire(at: now)
        }
    }

    private func expire(at now: Int64) async throws {
        try await ports.store.write { store in
            try store.removeCancellations(until: now)
            for due in try store.duePending(now: now, limit: Self.batch) {
                // As it is now that its enrollment is held: another host may have decided it since the look.
                guard var request = try store.request(due.id), request.life.expire() else { continue }
                try store.updateLife(of: request)
                try store.record(.expired(request), at: now)
            }
        }
    }
}

extension EventHub {
    /// Does `work`, then sleeps until the time that it names or until a deadline moved.
    fileprivate func wait(
        seconds longest: Double, on clock: any AgentClock,
        untilNews work: @escaping @Sendable () async throws -> Double?
    ) async throws {
        let notifier = notifier { event in
            if case .found(.expiredRequests) = event { true } else { event.kind?.movesDeadline == true }
        }
        try await clock.sleep(seconds: min(try await work() ?? longest, longest), orUntil: notifier)
    }
}
