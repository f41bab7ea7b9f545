import Synchronization

/// Publishes events to all listeners, after they are durable.
///
/// An event is a hint to read the store, never the data itself. So no listener needs a queue of events. A listener has
/// a notifier that is either rung or not, and a service has a set of keys with pending work. Both are bounded, and
/// neither loses work.
package final class EventHub: Sendable {
    private struct Listener {
        /// A filter that copies the needed part of an event, and returns whether to ring.
        ///
        /// It must not call the hub, which is locked.
        let hears: @Sendable (AgentEvent) -> Bool
        let notifier: AsyncStream<Void>.Continuation
    }

    private struct State {
        var last = 0
        var listeners: [Int: Listener] = [:]
    }

    private let state = Mutex(State())
    private let isLost: @Sendable (AgentEvent) -> Bool

    /// - Parameter isLost: selects the events that are not published. Only a test selects any, to show that no listener
    ///   waits for an event for ever.
    package init(losing isLost: @escaping @Sendable (AgentEvent) -> Bool = { _ in false }) { self.isLost = isLost }

    package func publish(_ events: [AgentEvent]) {
        guard !events.isEmpty else { return }
        // A listener that is added meanwhile sees all of these events or none. All pending keys are stored before the
        // first notifier rings. So a task that waits on a notifier, and then takes the pending keys, finds the keys
        // that it was rung for.
        let ringing = state.withLock { state in
            var ringing: Set<Int> = []
            for event in events where !isLost(event) {
                for (id, listener) in state.listeners where listener.hears(event) { ringing.insert(id) }
            }
            return ringing.compactMap { state.listeners[$0]?.notifier }
        }
        // Ring after unlocking. A ring takes the lock of the task that it wakes. A caller that cancels this task has
        // that lock while its listener leaves the hub. A ring for a listener that has left meanwhile has no effect.
        for notifier in ringing { notifier.yield() }
    }

    package func publish(_ event: AgentEvent) { publish([event]) }

    /// Creates a notifier that rings after events that match `isRelevant`, from this call on.
    ///
    /// It rings once for events that are published together.
    ///
    /// - Parameter isRelevant: must not call the hub, which is locked meanwhile.
    package func notifier(for isRelevant: @escaping @Sendable (AgentEvent) -> Bool) -> EventNotifier {
        let notifier = EventNotifier()
        wake(notifier, after: isRelevant)
        return notifier
    }

    /// Rings a notifier after events that match `isRelevant`, from this call on; others may ring it, too.
    ///
    /// - Parameter isRelevant: must not call the hub, which is locked meanwhile.
    package func wake(_ notifier: EventNotifier, after isRelevant: @escaping @Sendable (AgentEvent) -> Bool) {
        let continuation = notifier.continuation
        let id = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = Listener(hears: isRelevant, notifier: continuation)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
    }

    /// Creates a notifier with the keys that events have named since the last call of `takeAll()`.
    ///
    /// - Parameter keysOf: must not call the hub, which is locked meanwhile.
    package func pendingKeys<Key: Hashable & Sendable>(
        _ keysOf: @escaping @Sendable (AgentEvent) -> [Key]
    ) -> PendingKeys<Key> {
        let keys = KeySet<Key>()
        let notifier = notifier { event in
            let named = keysOf(event)
            keys.add(named)
            return !named.isEmpty
        }
        return PendingKeys(notifier: notifier, keys: keys)
    }
}

/// The keys with pending work, and the notifier that rings if keys are added.
package struct PendingKeys<Key: Hashable & Sendable>: Sendable {
    package let notifier: EventNotifier
    fileprivate let keys: KeySet<Key>

    /// Adds keys that no event has named.
    package func add(_ named: [Key]) {
        keys.add(named)
        notifier.wake()
    }

    /// Removes and returns the keys that were added since the last call.
    package func takeAll() -> Set<Key> { keys.takeAll() }
}

private final class KeySet<Key: Hashable & Sendable>: Sendable {
    private let keys = Mutex<Set<Key>>([])

    func add(_ named: [Key]) { keys.withLock { $0.formUnion(named) } }

    func takeAll() -> Set<Key> {
        keys.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}
