import Journal
import Synchronization

/// Runs one piece of work per key at a time, and once more if the key was named again meanwhile.
///
/// There is a task for a key only while it has work. What a look at the store finds begins work, and changes nothing of
/// work that is under way: else the look would cut short the pause of what failed.
struct KeyedWork<Key: Hashable & Sendable>: Sendable {
    private final class Running: Sendable {
        /// Keys at work; true if the key was called again.
        let keys = Mutex<[Key: Bool]>([:])

        /// - Returns: the key if its work is to begin.
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

    /// Works on the first keys and on those that become pending, until the task is cancelled.
    func run(_ first: [Key], then pendingKeys: PendingKeys<Key>, work: @escaping @Sendable (Key) async -> Void) async {
        await run(
            first, notifier: pendingKeys.notifier, calls: { pendingKeys.takeAll().map(KeyedCall.told) }, work: work)
    }

    /// Works on the first keys and on those that are told or found, until the task is cancelled.
    func run(
        _ first: [Key], then calls: PendingKeys<KeyedCall<Key>>, work: @escaping @Sendable (Key) async -> Void
    ) async {
        await run(first, notifier: calls.notifier, calls: { Array(calls.takeAll()) }, work: work)
    }

    private func run(
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

/// A call for work on a key.
enum KeyedCall<Key: Hashable & Sendable>: Hashable, Sendable {
    /// An event told of it: work that is under way is done once more.
    case told(Key)
    /// A look at the store found it: work that is under way goes on as it is.
    case found(Key)
}
