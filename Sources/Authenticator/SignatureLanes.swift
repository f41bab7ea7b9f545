import Synchronization

/// Lets one approval of an enrollment go on at a time, so that signCounts are committed in the order they were given.
///
/// Other enrollments, and the database, are not held up by a slow key.
final class SignatureLanes: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>
    /// The approvals that wait behind the one that goes on; no entry where none goes on.
    private let waiting = Mutex<[EnrollmentID: [Waiter]]>([:])

    func run<T: Sendable>(
        _ enrollment: EnrollmentID, _ body: @Sendable () async throws -> T
    ) async throws -> T {
        await enter(enrollment)
        defer { leave(enrollment) }
        return try await body()
    }

    private func enter(_ enrollment: EnrollmentID) async {
        await withCheckedContinuation { (waiter: Waiter) in
            let isFree = waiting.withLock { waiting in
                guard waiting[enrollment] != nil else {
                    waiting[enrollment] = []
                    return true
                }
                waiting[enrollment]?.append(waiter)
                return false
            }
            if isFree { waiter.resume() }
        }
    }

    private func leave(_ enrollment: EnrollmentID) {
        let next: Waiter? = waiting.withLock { waiting in
            guard var queue = waiting[enrollment], !queue.isEmpty else {
                waiting[enrollment] = nil
                return nil
            }
            let first = queue.removeFirst()
            waiting[enrollment] = queue
            return first
        }
        next?.resume()
    }
}
