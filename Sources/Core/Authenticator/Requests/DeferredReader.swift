import IssuerProtocol
import Journal
import Records
import StoreTables
import Synchronization
import TextAndTime

/// Reads again what was held, when its time has come.
///
/// Reading a message may ask its issuer for keys. So each issuer's messages are read by a task of their own, which lives
/// while there are any, and within a time limit: an issuer that does not answer holds up nobody else's.
struct DeferredReader: Sendable {
    let ports: Ports
    let intake: Intake
    let deferred: DeferredMessages
    let hub: EventHub

    /// The most messages that are read in one go.
    private static let batch = 100
    /// The seconds that one go may take: the issuer may be asked for its discovery and for its keys, 30 s each.
    static let patience: Double = 65
    /// The longest sleep, in seconds: a wall clock that was set meanwhile is noticed by then.
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
        await KeyedWork().run(deferred.issuers, then: pendingKeys) { issuer in await readAll(of: issuer) }
    }

    /// Reads an issuer's messages as their times come, until none is left.
    private func readAll(of issuer: IssuerTarget) async {
        while !Task.isCancelled {
            await readDue(of: issuer)
            // Listening begins before the look, so nothing is held in between unseen.
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

    /// Reads those of an issuer's messages whose time has come.
    func readDue(of issuer: IssuerTarget) async {
        while !Task.isCancelled {
            let due = deferred.takeDue(of: issuer, by: ports.clock, limit: Self.batch)
            guard !due.isEmpty else { return }
            let count = await readInTime(due)
            for held in due.dropFirst(count) { holdOn(held, isOwnTrouble: false) }
        }
    }

    /// Reads messages one after another, and says how many there was time for.
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

    /// False if there was no more time.
    private func readAgain(_ held: DeferredMessages.Held) async -> Bool {
        guard !Task.isCancelled else { return false }
        do {
            guard let enrollment = try await ports.store.read({ try $0.enrollment(held.enrollmentId) }) else {
                return true
            }
            // The enrollment may end meanwhile: intake looks again in the database transaction that keeps the message.
            try await intake.receive([held.message], for: enrollment, heldUntil: held.dropAt, isListed: held.isListed)
        } catch {
            guard !Task.isCancelled else { return false }
            holdOn(held, isOwnTrouble: error is StoreError)
        }
        return true
    }

    /// It could not be judged now (no keys, no database): it stays held.
    ///
    /// It counts as received, so it is not given up because of a trouble that is the agent's own.
    private func holdOn(_ held: DeferredMessages.Held, isOwnTrouble: Bool) {
        let later = held.held(for: IssuerDirectory.unknownKeyPause, by: ports.clock, atLeastOnce: isOwnTrouble)
        guard later.isReadAgain, deferred.hold(later) else { return intake.giveUp(held) }
    }
}
