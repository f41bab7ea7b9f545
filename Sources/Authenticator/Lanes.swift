import Synchronization

/// Lets one thing with a key go on at a time, in the order in which they came; other keys are not held up.
package final class Lanes<Key: Hashable & Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>
    /// Those that wait behind the one that goes on; no entry where none goes on.
    private let waiting = Mutex<[Key: [Waiter]]>([:])

    package init() {}

    package func run<T: Sendable>(_ key: Key, _ body: @Sendable () async throws -> T) async throws -> T {
        await enter(key)
        defer { leave(key) }
        return try await body()
    }

    private func enter(_ key: Key) async {
        await withCheckedContinuation { (waiter: Waiter) in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(waiter)
                return false
            }
            if isFree { waiter.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next: Waiter? = waiting.withLock { waiting in
            guard var queue = waiting[key], !queue.isEmpty else {
                waiting[key] = nil
                return nil
            }
            let first = queue.removeFirst()
            waiting[key] = queue
            return first
        }
        next?.resume()
    }
}

/// One approval of an enrollment at a time, so that signCounts are committed in the order they were given.
///
/// Other enrollments, and the database, are not held up by a slow key.
typealias SignatureLanes = Lanes<EnrollmentID>
