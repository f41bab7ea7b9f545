import Synchronization

/// Tells everyone who listens what happened, after it is durable.
///
/// An event is a hint to look at the store, never the truth itself. So nobody needs a queue of them: a listener has a
/// notifier that is either rung or not, and a service has the set of keys that want work. Both are bounded, and neither
/// loses anything.
package final class EventHub: Sendable {
    private struct Listener {
        /// Takes what it needs of an event, and says whether to ring for it.
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

    /// - Parameter isLost: which events nobody is told of: none, except in a test that shows that nothing waits for one
    ///   for ever.
    package init(losing isLost: @escaping @Sendable (AgentEvent) -> Bool = { _ in false }) { self.isLost = isLost }

    package func publish(_ events: [AgentEvent]) {
        guard !events.isEmpty else { return }
        // Whoever begins to listen meanwhile does so before all of it or after. All pending keys are there before the first
        // notifier rings: whoever waits on a notifier and then takes the pending keys finds what it rang for.
        let ringing = state.withLock { state in
            var ringing: Set<Int> = []
            for event in events where !isLost(event) {
                for (id, listener) in state.listeners where listener.hears(event) { ringing.insert(id) }
            }
            return ringing.compactMap { state.listeners[$0]?.notifier }
        }
        // After unlocking: a ring takes the lock of the task that it wakes, and whoever calls that task off has that lock
        // while its listener leaves the hub. A ring for a listener that has left meanwhile does nothing.
        for notifier in ringing { notifier.yield() }
    }

    package func publish(_ event: AgentEvent) { publish([event]) }

    /// A notifier that rings after events for which `isRelevant`, from this call on.
    ///
    /// Once for those published together.
    ///
    /// - Parameter isRelevant: must not call the hub, which is locked meanwhile.
    package func notifier(for isRelevant: @escaping @Sendable (AgentEvent) -> Bool) -> EventNotifier {
        let notifier = EventNotifier()
        ring(notifier, after: isRelevant)
        return notifier
    }

    /// Rings a notifier, whoever else does, after events for which `isRelevant`, from this call on.
    ///
    /// - Parameter isRelevant: must not call the hub, which is locked meanwhile.
    package func ring(_ notifier: EventNotifier, after isRelevant: @escaping @Sendable (AgentEvent) -> Bool) {
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

    /// A notifier with the keys that events have named since they were last taken.
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

/// The keys that want work, and the notifier that rings when there are new ones.
package struct PendingKeys<Key: Hashable & Sendable>: Sendable {
    package let notifier: EventNotifier
    fileprivate let keys: KeySet<Key>

    /// Names keys that no event has named.
    package func add(_ named: [Key]) {
        keys.add(named)
        notifier.ring()
    }

    /// The keys named since the last call.
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
