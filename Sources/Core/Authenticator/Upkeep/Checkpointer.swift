import Journal
import Logging
import Records
import Synchronization

/// Has the journal's checkpoints signed, beside all else; ``JournalLookUp`` says what they buy.
struct Checkpointer: Sendable {
    /// After how many entries of the journal it looks again.
    private static let pace = Int(JournalCheckpoint.length)
    private static let day: Double = 86_400

    let store: JournaledStore
    let ports: Ports
    let hub: EventHub
    let log: Logger

    /// Works until the task is cancelled: at start, once a day, and each time much has happened.
    func run() async throws {
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
                    try await ports.patiently { _ = try await CheckpointSigning(store: store).run() }
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

    /// Counts one more, and says whether there are so many.
    func reach(_ limit: Int) -> Bool {
        count.withLock { count in
            count += 1
            return count >= limit
        }
    }
}
