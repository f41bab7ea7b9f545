import IssuerProtocol
import Journal
import Synchronization

/// The groups of enrollments, shared by the groups' loops and ``Fetcher``, which updates them from the store.
final class SharedFetchGroups: Sendable {
    private struct State {
        var groups = FetchGroups()
        var notifiers: [FetchGroups.ID: AsyncStream<Void>.Continuation] = [:]
    }

    /// The new groups, each once.
    ///
    /// The reader starts a ``FetchLoop`` for each.
    let newGroups: AsyncStream<FetchGroups.ID>
    private let begun: AsyncStream<FetchGroups.ID>.Continuation
    private let state = Mutex(State())

    init() { (newGroups, begun) = AsyncStream.makeStream() }

    /// Reads or changes the groups.
    ///
    /// Publishes new groups, and wakes the loops of joined ones.
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

    /// Makes the group's notifier, which rings if a member joins or resumes, or has since the group's last turn.
    ///
    /// A group has one notifier at a time.
    func notifier(of id: FetchGroups.ID) -> EventNotifier {
        let notifier = EventNotifier()
        state.withLock { state in
            // Only the continuation is stored: the notifier must end when its reader drops it.
            state.notifiers[id] = notifier.continuation
            if state.groups.hasNews(id) { notifier.wake() }
        }
        return notifier
    }

    /// Removes the notifier of a group whose loop has ended.
    func removeNotifier(of id: FetchGroups.ID) { state.withLock { _ = $0.notifiers.removeValue(forKey: id) } }
}
