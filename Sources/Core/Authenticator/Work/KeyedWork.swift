import Journal
import Synchronization

/// Runs one piece of work per key at a time, and once more if an event names the key meanwhile.
///
/// A key has a task only while it has work. A key that a look at the store finds gets work if it has none. Such a look
/// does not change work that is under way: else it would cut short the pause of failed work.
struct KeyedWork<Key: Hashable & Sendable>: Sendable {
    private final class Running: Sendable {
        /// The keys at work.
        ///
        /// The value is true if an event has named the key again.
        let keys = Mutex<[Key: Bool]>([:])

        /// - Returns: the key if its work must begin.
        func begins(_ call: KeyedCall<Key>) -> Key? {
            keys.withLock { keys in
                switch call {
                case .told(let key), .found(let key):
                    guard keys[key] == nil else {
                        if case .told = call { keys[key] = true }
                        return nil
                    }
                    keys[key] = false
                    return key
                }
            }
        }

        func goesOn(_ key: Key) -> Bool {
            keys.withLock { keys in
                if keys[key] == true {
                    keys[key] = false
                    return true
                }
                keys[key] = nil
                return false
            }
        }
    }

    private let running = Running()

    /// Works on the first keys and on pending ones, until the task is cancelled.
    func perform(_ first: [Key], then pendingKeys: PendingKeys<Key>, work: @escaping @Sendable (Key) async -> Void)
        async
    {
        await perform(
            first, notifier: pendingKeys.notifier, calls: { pendingKeys.takeAll().map(KeyedCall.told) }, work: work)
    }

    /// Works on the first keys and on called ones, until the task is cancelled.
    func perform(
        _ first: [Key], then calls: PendingKeys<KeyedCall<Key>>, work: @escaping @Sendable (Key) async -> Void
    ) async {
        await perform(first, notifier: calls.notifier, calls: { Array(calls.takeAll()) }, work: work)
    }

    private func perform(
        _ first: [Key], notifier: EventNotifier, calls: () -> [KeyedCall<Key>],
        work: @escaping @Sendable (Key) async -> Void
    ) async {
        let running = running
        await withDiscardingTaskGroup { group in
            func call(_ call: KeyedCall<Key>) {
                guard let key = running.begins(call) else { return }
                group.addTask {
                    repeat { await work(key) } while running.goesOn(key) && !Task.isCancelled
                }
            }
            first.map(KeyedCall.told).forEach(call)
            for await _ in notifier { calls().forEach(call) }
        }
    }
}

/// Call for work on a key.
enum KeyedCall<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The call of an event.
    ///
    /// Work that is under way is repeated.
    case told(Key)
    /// The call of a look at the store.
    ///
    /// Work that is under way is not repeated.
    case found(Key)
}
