import Journal
import Logging
import Records
import StoreTables

/// Background task that deletes closed requests and ended enrollments by age, and erases personal data on request.
struct DataRetention: Sendable {
    let ports: Ports
    /// The retention, in seconds.
    let retention: Int64
    let hub: EventHub
    let log: Logger

    /// The most rows that one database transaction removes or erases.
    ///
    /// A decision waits for at most one such transaction.
    static let step = 200
    /// The seconds for which a request is kept that was never shown.
    ///
    /// Refused requests count toward their daily bound for the same time.
    private static let unshownFor: Int64 = 86_400
    /// The seconds between two searches for expired rows.
    private static let pause: Double = 86_400
    /// The seconds after which failed work is tried again.
    private static let pauseAfterFailure: Double = 60

    /// The seconds after which an erasure is tried again that waits for another reader of the files.
    private static let pauseForReaders: Double = 5

    /// Works at once, once a day and when an erasure is requested, until the task is cancelled.
    func run() async throws {
        var (hasFailed, erased): (Bool, [EnrollmentID]) = (false, [])
        while !Task.isCancelled {
            // Work that has just failed waits for its pause: the periodic look must not repeat it sooner.
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

    /// Works once, and returns the seconds until the next run.
    ///
    /// - Parameter erased: the enrollments whose rows are erased and whose erasure is not concluded.
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

    /// Removes rows that ended before the retention began, and day-old requests that were never shown.
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

    /// Erases the rows of requested erasures, also of requests from before a crash.
    ///
    /// - Returns: all enrollments whose rows are erased now.
    private func eraseRows(but done: Set<EnrollmentID>) async throws -> [EnrollmentID] {
        let ids = try await ports.store.read { try $0.enrollmentsToErase() }
        for id in ids where !done.contains(id) { try await eraseRows(of: id) }
        return ids
    }

    /// Removes the remains of the erased rows' keys from the files, and only then records the erasure as done.
    ///
    /// - Returns: false if that is not possible yet.
    private func concludeErasure(of ids: [EnrollmentID]) async throws -> Bool {
        guard !ids.isEmpty else { return true }
        guard try await ports.store.emptyLog() else { return false }
        // An ended enrollment gets no further rows, so there are no new rows to erase.
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
