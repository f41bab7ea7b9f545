import Journal
import Logging
import Records
import StoreTables

/// Logs when the store is in trouble, and tries it until it recovers.
struct StoreWatch: Sendable {
    let ports: Ports
    let log: Logger

    /// The seconds between two tries; nothing is tried while all is well.
    static let pause: Double = 2
    /// For a kind of trouble one line at a time: one that comes and goes cannot fill the log.
    private let quota: LogQuota

    init(ports: Ports, bounds: AgentBounds, log: Logger) {
        self.ports = ports
        self.log = log
        quota = LogQuota(pause: bounds.logPause)
    }

    /// Works until the task is cancelled.
    ///
    /// - Throws: the trouble if a new start ends it, so that a service manager starts the agent again.
    func run() async throws {
        let health = ports.storeHealth
        var changes = health.changes().makeAsyncIterator()
        // A reserve that cannot be kept is noted as a full disk.
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

    /// Tries until the store can be written, or has another trouble.
    private func wait(for trouble: StoreError) async throws {
        let health = ports.storeHealth
        while let current = health.trouble, current.kind == trouble.kind {
            try await ports.clock.sleep(seconds: Self.pause)
            do {
                try await ports.store.write { try $0.touch() }
                // A write that succeeds in the room of the reserve is no sign that there is room.
                try await ports.store.keepReserve()
                // Only this counts: a write that had nothing to change succeeds on a full disk too.
                health.noteWritten()
            } catch is StoreError {
                // It has been noted.
            }
        }
    }
}
