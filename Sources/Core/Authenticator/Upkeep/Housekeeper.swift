import Journal
import Logging
import Records
import StoreTables

/// Deletes closed requests and ended enrollments after their retention; erases personal data on request.
struct Housekeeper: Sendable {
    let ports: Ports
    /// Seconds.
    let retention: Int64
    let hub: EventHub
    let log: Logger

    /// The most rows that one database transaction removes or erases: a decision waits for one at most.
    static let step = 200
    /// The seconds for which a request is kept that was never shown: as long as those count that are refused in a day.
    private static let unshownFor: Int64 = 86_400
    /// The seconds between two searches for expired rows.
    private static let pause: Double = 86_400
    /// The seconds after which something that failed is tried again.
    private static let pauseAfterFailure: Double = 60

    /// The seconds after which an erasure is tried again that somebody who reads the files holds up.
    private static let pauseForReaders: Double = 5

    /// Works until the task is cancelled: at once, then once a day and when something is to be erased.
    func run() async throws {
        var (hasFailed, erased): (Bool, [EnrollmentID]) = (false, [])
        while !Task.isCancelled {
            // Work that has just failed is not tried again at each look.
            let takesFound = !hasFailed
            let notifier = hub.notifier { event in
                switch event {
                case .erasureWanted: true
                case .found(.erasures): takesFound
                default: false
                }
            }
            let begun = ports.clock.steady
            let seconds = await workedOrFailed(&erased)
            hasFailed = seconds != Self.pause
            try await ports.clock.sleep(seconds: seconds, since: begun, orUntil: notifier)
        }
    }

    /// The seconds for which there is nothing to do.
    ///
    /// - Parameter erased: enrollments whose rows are erased and whose erasure is not concluded.
    private func workedOrFailed(_ erased: inout [EnrollmentID]) async -> Double {
        do {
            let done = Set(erased)
            erased = try await ports.patiently {
                let ids = try await eraseRows(but: done)
                try await remove()
                return ids
            }
            guard try await concludeErasure(of: erased) else {
                log.notice("an erasure waits for another program that reads the database")
                return Self.pauseForReaders
            }
            erased = []
            return Self.pause
        } catch {
            guard !Task.isCancelled else { return 0 }
            log.error("expired data could not be deleted", metadata: ["reason": "\(error)"])
            return Self.pauseAfterFailure
        }
    }

    /// Removes what was over before the retention began, and after a day what was never shown.
    private func remove() async throws {
        let now = ports.provenTime.now
        let time = now - max(retention, AgentSettings.leastRetention)
        let count =
            try await removeAll { try $0.removeWhatWasOver(before: time, limit: Self.step) }
            + removeAll { try $0.removeWhatWasNeverShown(before: now - Self.unshownFor, limit: Self.step) }
        if count > 0 { log.info("expired rows were deleted", metadata: ["rows": "\(count)"]) }
    }

    private func removeAll(_ remove: @escaping @Sendable (StoreTransaction) throws -> Int) async throws -> Int {
        var (removed, total) = (0, 0)
        repeat {
            removed = try await ports.store.write(remove)
            total += removed
            await Task.yield()
        } while removed == Self.step && !Task.isCancelled
        return total
    }

    /// Begins what was asked for, also before a crash.
    ///
    /// - Returns: all whose rows are erased now.
    private func eraseRows(but done: Set<EnrollmentID>) async throws -> [EnrollmentID] {
        let ids = try await ports.store.read { try $0.enrollmentsToErase() }
        for id in ids where !done.contains(id) { try await eraseRows(of: id) }
        return ids
    }

    /// After the rows, what is left of their keys in the files, and only then the note that it is done.
    ///
    /// - Returns: false if it cannot be done yet.
    private func concludeErasure(of ids: [EnrollmentID]) async throws -> Bool {
        guard !ids.isEmpty else { return true }
        guard try await ports.store.emptyLog() else { return false }
        // An enrollment that is over gets no more rows, so nothing to be erased has come meanwhile.
        try await ports.store.write { store in
            let now = ports.clock.now
            // Another host may have concluded it meanwhile.
            for id in ids where try store.concludeErasure(of: id) { try store.record(.erased(id), at: now) }
        }
        for id in ids { log.notice("personal data was erased", metadata: ["enrollment": "\(id)"]) }
        return true
    }

    private func eraseRows(of id: EnrollmentID) async throws {
        var last: Int64?
        repeat {
            let place = last
            last = try await ports.store.write { try $0.eraseRequests(of: id, after: place, limit: Self.step) }
            await Task.yield()
        } while last != nil && !Task.isCancelled
        try Task.checkCancellation()
        try await ports.store.write { try $0.eraseNames(of: id) }
    }
}
