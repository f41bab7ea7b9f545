import Journal
import Logging
import Records
import StoreTables

/// Logs the store's errors, and tries to write until the store recovers.
struct StoreWatch: Sendable {
    let ports: Ports
    let log: Logger

    /// The seconds between two tries while the store has an error.
    static let pause: Double = 2
    /// Limits the log to one line per kind of error and pause, so that an error that comes and goes cannot fill it.
    private let quota: LogQuota

    init(ports: Ports, bounds: AgentBounds, log: Logger) {
        self.ports = ports
        self.log = log
        quota = LogQuota(pause: bounds.logPause)
    }

    /// Works until the task is cancelled.
    ///
    /// - Throws: the store's error if a new start ends it, so that the service manager restarts the agent.
    func run() async throws {
        let health = ports.storeHealth
        var changes = health.changes().makeAsyncIterator()
        // A reserve that cannot be kept is reported as a full disk.
        _ = try? await ports.store.keepReserve()
        repeat {
            while let trouble = health.trouble {
                let isSaid = say(trouble)
                if trouble.kind == .shutOut { throw trouble }
                if trouble.isForGood { break }
                try await wait(for: trouble)
                if isSaid, health.trouble == nil { log.notice("the database can be used again") }
            }
        } while await changes.next() != nil
    }

    private func say(_ trouble: StoreError) -> Bool {
        guard let leftOut = quota.admit(trouble.kind.rawValue, now: ports.clock.now) else { return false }
        var metadata: Logger.Metadata = ["kind": "\(trouble.kind.rawValue)", "reason": "\(trouble)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.error("the database is in trouble", metadata: metadata)
        return true
    }

    /// Tries to write until the store recovers or has another kind of error.
    private func wait(for trouble: StoreError) async throws {
        let health = ports.storeHealth
        while let current = health.trouble, current.kind == trouble.kind {
            try await ports.clock.sleep(seconds: Self.pause)
            do {
                try await ports.store.write { try $0.touch() }
                // A write that succeeds in the space of the reserve does not show that the disk has space.
                try await ports.store.keepReserve()
                // Recovery is reported only here: a write that had no change to make succeeds on a full disk too.
                health.noteWritten()
            } catch is StoreError {
                // ``WatchedStore`` has reported it.
            }
        }
    }
}
