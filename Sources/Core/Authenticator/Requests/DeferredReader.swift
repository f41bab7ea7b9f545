import IssuerProtocol
import Journal
import Records
import StoreTables
import Synchronization
import TextAndTime

/// Reads deferred messages again when they are due.
///
/// Reading a message may fetch its issuer's keys. So each issuer's messages have a task of their own, which lives while
/// the issuer has any, and a time limit. An issuer that does not answer delays no messages of other issuers.
struct DeferredReader: Sendable {
    let ports: Ports
    let intake: Intake
    let deferred: DeferredMessages
    let hub: EventHub

    /// The most messages in one batch.
    private static let batch = 100
    /// The time limit of a batch, in seconds.
    ///
    /// The issuer's discovery and keys may be fetched, 30 s each.
    static let patience: Double = 65
    /// The longest sleep, in seconds.
    ///
    /// A change of the wall clock is noticed by then.
    private static let longestSleep: Double = 60

    /// Works until the task is cancelled.
    func run() async throws {
        let pendingKeys = hub.pendingKeys { event in
            switch event {
            case .messageHeld(let issuer): [issuer]
            case .found(.heldMessages(let issuers)): issuers
            default: []
            }
        }
        await KeyedWork().perform(deferred.issuers, then: pendingKeys) { issuer in await readAll(of: issuer) }
    }

    /// Reads an issuer's messages as they become due, until none is left.
    private func readAll(of issuer: IssuerTarget) async {
        while !Task.isCancelled {
            await readDue(of: issuer)
            // The notifier begins before the check, so that no message is deferred unseen between the two.
            let notifier = hub.notifier { event in
                switch event {
                case .messageHeld(issuer): true
                case .found(.heldMessages(let issuers)): issuers.contains(issuer)
                default: event.kind == .clockAdvanced
                }
            }
            guard let next = deferred.nextDeadline(of: issuer) else { return }
            let seconds = min(Double(next.seconds(since: ports.clock.now)), Self.longestSleep)
            guard seconds > 0 else { continue }
            guard (try? await ports.clock.sleep(seconds: seconds, orUntil: notifier)) != nil else { return }
        }
    }

    /// Reads an issuer's due messages.
    func readDue(of issuer: IssuerTarget) async {
        while !Task.isCancelled {
            let due = deferred.takeDue(of: issuer, by: ports.clock, limit: Self.batch)
            guard !due.isEmpty else { return }
            let count = await readInTime(due)
            for held in due.dropFirst(count) { holdOn(held, isOwnTrouble: false) }
        }
    }

    /// Reads messages one after another, and returns the number that were read in time.
    private func readInTime(_ messages: [DeferredMessages.Held]) async -> Int {
        await withTaskGroup(of: Int?.self) { group in
            group.addTask {
                for (number, message) in messages.enumerated() where await !readAgain(message) { return number }
                return messages.count
            }
            group.addTask {
                _ = try? await ports.patience.sleep(seconds: Self.patience)
                return nil
            }
            var count = 0
            for await read in group {
                count = read ?? count
                group.cancelAll()
            }
            return count
        }
    }

    /// Reads a message again, and returns false if the time limit came first.
    private func readAgain(_ held: DeferredMessages.Held) async -> Bool {
        guard !Task.isCancelled else { return false }
        do {
            guard let enrollment = try await ports.store.read({ try $0.enrollment(held.enrollmentId) }) else {
                return true
            }
            // The enrollment may end meanwhile: intake checks that again in the database transaction that stores the
            // message.
            try await intake.receive([held.message], for: enrollment, heldUntil: held.dropAt, isListed: held.isListed)
        } catch {
            guard !Task.isCancelled else { return false }
            holdOn(held, isOwnTrouble: error is StoreError)
        }
        return true
    }

    /// Defers a message again that could not be verified now, for lack of keys or of the database.
    ///
    /// It counts as received, so a fault of the agent's own does not drop it.
    private func holdOn(_ held: DeferredMessages.Held, isOwnTrouble: Bool) {
        let later = held.held(for: IssuerDirectory.unknownKeyPause, by: ports.clock, atLeastOnce: isOwnTrouble)
        guard later.isReadAgain, deferred.add(later) else { return intake.giveUp(held) }
    }
}
