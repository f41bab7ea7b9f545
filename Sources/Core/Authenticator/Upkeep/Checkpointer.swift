import Journal
import Logging
import Records
import Synchronization

/// Background task that signs the journal's checkpoints, whose use is described at ``JournalLookUp``.
struct Checkpointer: Sendable {
    /// The number of journal entries after which it runs again.
    private static let pace = Int(JournalCheckpoint.length)
    private static let day: Double = 86_400

    let store: JournaledStore
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// Signs checkpoints at start, once a day and after ``pace`` entries, until the task is cancelled.
    func run() async throws {
        var damagedAt: Int64?
        while !Task.isCancelled {
            let (entries, place) = (EntryCount(), store.head?.sequence ?? 0)
            let notifier = hub.notifier { event in
                if case .found(.journal(let head)) = event { return head - place >= Int64(Self.pace) }
                return event.kind != nil && entries.reach(Self.pace)
            }
            do {
                // A damaged journal is read again only once a day: each try reads it up to the damage.
                if damagedAt.map({ ports.clock.now - $0 >= Int64(Self.day) }) != false {
                    damagedAt = nil
                    try await ports.patiently { _ = try await CheckpointSigning(store: store).signDue() }
                }
            } catch let fault as JournalError {
                damagedAt = ports.clock.now
                log.error("the journal is damaged, and gets no checkpoint", metadata: ["fault": "\(fault)"])
            } catch {
                guard !Task.isCancelled else { return }
                log.error("the journal got no checkpoint", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: Self.day, orUntil: notifier)
        }
    }
}

private final class EntryCount: Sendable {
    private let count = Mutex(0)

    /// Counts one more, and returns whether the count has reached the limit.
    func reach(_ limit: Int) -> Bool {
        count.withLock { count in
            count += 1
            return count >= limit
        }
    }
}
