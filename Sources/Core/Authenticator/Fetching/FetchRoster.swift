import IssuerProtocol
import Journal
import Synchronization

/// The groups in which enrollments are fetched, for their loops and for whoever follows the store.
final class FetchRoster: Sendable {
    private struct State {
        var groups = FetchGroups()
        var notifiers: [FetchGroups.ID: AsyncStream<Void>.Continuation] = [:]
    }

    /// Each new group, once: it wants a loop.
    let newGroups: AsyncStream<FetchGroups.ID>
    private let begun: AsyncStream<FetchGroups.ID>.Continuation
    private let state = Mutex(State())

    init() { (newGroups, begun) = AsyncStream.makeStream() }

    /// Looks at the groups or changes them, and tells whom it concerns.
    func with<Value: Sendable, Failure: Error>(
        _ body: (inout FetchGroups) throws(Failure) -> sending Value
    ) throws(Failure) -> Value {
        try state.withLock { state throws(Failure) in
            let value = try body(&state.groups)
            let changes = state.groups.takeChanges()
            for id in changes.begun { begun.yield(id) }
            for id in changes.joined { state.notifiers[id]?.yield() }
            return value
        }
    }

    /// A notifier that rings once someone has come after the group's last turn; a group has one at a time.
    func notifier(of id: FetchGroups.ID) -> EventNotifier {
        let notifier = EventNotifier()
        state.withLock { state in
            // Not the notifier: it ends when whoever waits for it has left.
            state.notifiers[id] = notifier.continuation
            if state.groups.hasNews(id) { notifier.ring() }
        }
        return notifier
    }

    /// The group's loop has ended.
    func removeNotifier(of id: FetchGroups.ID) { state.withLock { _ = $0.notifiers.removeValue(forKey: id) } }
}
