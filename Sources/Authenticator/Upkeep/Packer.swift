import Logging
import Synchronization

/// Brings what is over into few bytes, outside of the way of any request and in small steps.
///
/// A step is one database transaction: what a crash interrupts has happened or not, and is gone on with at the next start.
package struct Packer: Sendable {
    /// After how many entries of the journal it looks again.
    private static let pace = 256
    private static let day: Double = 86_400
    /// How many of the newest requests stay as they are: they are looked at, asked again and answered late.
    static let newest = 64
    /// The most requests in one database transaction: a decision waits for one at most.
    static let step = 16

    let store: JournaledStore
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// Works until the task is cancelled: at start, once a day, and each time much has happened.
    package func run() async throws {
        var damagedAt: Int64?
        while !Task.isCancelled {
            let (entries, place) = (EntryCount(), store.head?.sequence ?? 0)
            let notifier = hub.notifier { event in
                if case .found(.journal(let head)) = event { return head - place >= Int64(Self.pace) }
                return event.kind != nil && entries.reach(Self.pace)
            }
            do {
                // To find that it still is takes as long as reading it up to there.
                if damagedAt.map({ ports.clock.now - $0 >= Int64(Self.day) }) != false {
                    damagedAt = nil
                    try await ports.patiently { _ = try await JournalPacking(store: store).run() }
                }
            } catch let fault as JournalError {
                damagedAt = ports.clock.now
                log.error("the journal is damaged, and is not packed", metadata: ["fault": "\(fault)"])
            } catch {
                guard !Task.isCancelled else { return }
                log.error("the journal could not be packed", metadata: ["reason": "\(error)"])
            }
            do {
                try await ports.patiently { try await packRequests() }
            } catch {
                guard !Task.isCancelled else { return }
                log.error("requests that are over could not be packed", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: Self.day, orUntil: notifier)
        }
    }

    /// Packs the requests that are over, in steps, until there is none or the task is cancelled.
    func packRequests() async throws {
        var place: Int64? = 0
        while let after = place {
            try Task.checkCancellation()
            place = try await store.write { store in
                try store.packRequests(after: after, sparing: Self.newest, limit: Self.step)
            }
            await Task.yield()
        }
    }
}

private final class EntryCount: Sendable {
    private let count = Mutex(0)

    /// Counts one more, and says whether there are so many.
    func reach(_ limit: Int) -> Bool {
        count.withLock { count in
            count += 1
            return count >= limit
        }
    }
}
