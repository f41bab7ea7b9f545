import Synchronization

/// Runs one piece of work per key at a time, and once more if the key was named again meanwhile.
///
/// There is a task for a key only while it has work.
struct KeyedWork<Key: Hashable & Sendable>: Sendable {
    private final class Running: Sendable {
        /// Keys at work; true if the key was called again.
        let keys = Mutex<[Key: Bool]>([:])

        func begins(_ key: Key) -> Bool {
            keys.withLock { keys in
                guard keys[key] == nil else {
                    keys[key] = true
                    return false
                }
                keys[key] = false
                return true
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
        let running = running
        await withDiscardingTaskGroup { group in
            func call(_ key: Key) {
                guard running.begins(key) else { return }
                group.addTask {
                    repeat { await work(key) } while running.goesOn(key) && !Task.isCancelled
                }
            }
            first.forEach(call)
            for await _ in pendingKeys.notifier { pendingKeys.takeAll().forEach(call) }
        }
    }
}
