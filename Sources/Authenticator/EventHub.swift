import Synchronization

/// Tells everyone who listens what happened, after it is durable.
///
/// An event is a hint to look at the book, never the truth itself. So nobody needs a queue of them: a listener has a
/// bell that is either rung or not, and a service has the set of keys that want work. Both are bounded, and neither
/// loses anything.
package final class EventHub: Sendable {
    private typealias Listener = @Sendable (AgentEvent) -> Void

    private struct State {
        var last = 0
        var listeners: [Int: Listener] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func publish(_ events: [AgentEvent]) {
        guard !events.isEmpty else { return }
        // Whoever begins to listen meanwhile does so before all of it or after: a bell never rings before the mailbox
        // beside it has the key, and none that was made before a look into the mailbox misses what came after it.
        state.withLock { state in
            for event in events {
                for listener in state.listeners.values { listener(event) }
            }
        }
    }

    package func publish(_ event: AgentEvent) { publish([event]) }

    /// A bell that rings once or more after each event for which `isRelevant`, from this call on.
    package func bell(for isRelevant: @escaping @Sendable (AgentEvent) -> Bool) -> AsyncStream<Void> {
        attach { event, ring in
            if isRelevant(event) { ring() }
        }
    }

    /// A bell with the keys that events have named since they were last taken.
    func mailbox<Key: Hashable & Sendable>(_ keysOf: @escaping @Sendable (AgentEvent) -> [Key]) -> Mailbox<Key> {
        let keys = KeySet<Key>()
        let bell = attach { event, ring in
            let named = keysOf(event)
            guard !named.isEmpty else { return }
            keys.add(named)
            ring()
        }
        return Mailbox(bell: bell, keys: keys)
    }

    private func attach(
        _ hear: @escaping @Sendable (AgentEvent, _ ring: () -> Void) -> Void
    ) -> AsyncStream<Void> {
        let (bell, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = { event in hear(event) { continuation.yield() } }
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return bell
    }
}

/// The keys that want work, and the bell that rings when there are new ones.
struct Mailbox<Key: Hashable & Sendable>: Sendable {
    let bell: AsyncStream<Void>
    fileprivate let keys: KeySet<Key>

    /// The keys named since the last call.
    func takeAll() -> Set<Key> { keys.takeAll() }
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
