import Dispatch
import Records
import Synchronization

/// A thread for calls that wait for a token, one after the other.
///
/// Nobody who asks waits longer than `patience`.
///
/// Nothing can end a call that is with a token. One that does not come back holds up this queue and no other.
final class TokenQueue: Sendable {
    /// The most calls that wait or run.
    static let limit = 16
    /// In seconds; a token takes less than one for a signature, a slow smart card some.
    ///
    /// Less than a decision may take: then whoever asked is told that it was the token.
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
    func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard enter() else { throw TokenQueueError.busy }
        let answer = QueueAnswer<Value>()
        queue.async { [self] in
            // Nobody waits any more: then no PIN is tried and nothing signed.
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

/// Why a queue gave no answer.
package enum TokenQueueError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The token did not answer in time.
    ///
    /// What it may still do with the call goes nowhere.
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
