import Dispatch
import Records
import Synchronization

/// A serial queue for calls to external keys of one kind of place: files, the TPM, or all tokens.
///
/// No caller waits longer than `patience`.
///
/// A call in the token's driver cannot be cancelled. If it does not return, it blocks this queue and no other: a hung
/// token blocks all tokens, but neither files nor the TPM.
final class TokenQueue: Sendable {
    /// The most calls that wait or run.
    static let limit = 16
    /// The longest wait for one call, in seconds.
    ///
    /// A token takes less than one second for a signature, a slow smart card a few. The limit is less than the default
    /// limit of a decision, so that its caller gets the token's error. But a decision makes two calls.
    static let patience: Double = 20

    private let queue = DispatchQueue(label: "token queue")
    private let calls = Mutex(0)
    private let clock: any AgentClock

    init(clock: any AgentClock) {
        self.clock = clock
    }

    /// Runs a call on the queue's thread.
    ///
    /// - Throws: `TokenQueueError`, `CancellationError`, or what the call throws.
    func call<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard enter() else { throw TokenQueueError.busy }
        let answer = QueueAnswer<Value>()
        queue.async { [self] in
            // If the caller has left, no PIN is tried and no signature is made.
            if answer.isWanted { answer.settle(Result { try call() }) }
            calls.withLock { $0 -= 1 }
        }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await answer.value }
            group.addTask { [clock] in
                try await clock.sleep(seconds: Self.patience)
                throw TokenQueueError.silent
            }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    private func enter() -> Bool {
        calls.withLock { calls in
            guard calls < Self.limit else { return false }
            calls += 1
            return true
        }
    }
}

/// The reason why a queue gave no answer.
package enum TokenQueueError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The token did not answer in time.
    ///
    /// The token may still carry out the call; a late result is dropped.
    case silent
    /// Too many calls wait already.
    case busy

    package var description: String {
        switch self {
        case .silent: "the token has not answered for \(Int(TokenQueue.patience)) seconds; nothing was signed"
        case .busy: "\(TokenQueue.limit) calls are already waiting for the token; try again later"
        }
    }
}
