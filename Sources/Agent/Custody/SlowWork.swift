import Dispatch
import Records
import Synchronization

/// Threads for work that is slow on the processor, so that it does not block Swift's own threads.
///
/// There are few threads, because each derivation of a key from a PIN takes 16 MiB.
final class SlowWork: Sendable {
    static let threads = 2
    /// The most calls that wait or run.
    static let limit = 1_024

    private let queues = (0..<threads).map { DispatchQueue(label: "slow work \($0)") }
    /// The calls of each thread.
    private let loads = Mutex([Int](repeating: 0, count: threads))

    /// Runs a call on the thread with the fewest calls.
    ///
    /// Once begun, the call runs to its end and the caller waits for it, even if the caller's task is cancelled: a PIN
    /// attempt that has begun counts.
    ///
    /// - Throws: `SlowWorkError`, `NotWantedError` if the task was cancelled before it began, or what the call throws.
    func call<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard let index = enter() else { throw SlowWorkError() }
        let slowCall = SlowCall<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                slowCall.wait(continuation)
                queues[index].async { [self] in
                    let caller = slowCall.begin()
                    let result = caller.map { _ in Result { try call() } }
                    loads.withLock { $0[index] -= 1 }
                    if let caller, let result { caller.resume(with: result) }
                }
            }
        } onCancel: {
            slowCall.giveUp()
        }
    }

    private func enter() -> Int? {
        loads.withLock { loads in
            guard loads.reduce(0, +) < Self.limit, let index = loads.indices.min(by: { loads[$0] < loads[$1] }) else {
                return nil
            }
            loads[index] += 1
            return index
        }
    }
}

/// Too many calls wait already.
package struct SlowWorkError: Error, Equatable, Sendable, CustomStringConvertible {
    package var description: String { "\(SlowWork.limit) keys are already being opened; try again later" }
}

/// A call whose caller may leave until the call begins.
private final class SlowCall<Value: Sendable>: Sendable {
    typealias Caller = CheckedContinuation<Value, any Error>

    private enum State {
        case new
        case waiting(Caller)
        case begun
        case givenUp
    }

    private let state = Mutex(State.new)

    func wait(_ caller: Caller) {
        let isGivenUp = state.withLock { state in
            if case .givenUp = state { return true }
            state = .waiting(caller)
            return false
        }
        if isGivenUp { caller.resume(throwing: NotWantedError()) }
    }

    /// Begins the call; returns its caller, or `nil` if the caller has left: then the call must not run.
    func begin() -> Caller? {
        state.withLock { state in
            guard case .waiting(let caller) = state else { return nil }
            state = .begun
            return caller
        }
    }

    func giveUp() {
        let caller: Caller? = state.withLock { state in
            switch state {
            case .begun, .givenUp: return nil
            case .new:
                state = .givenUp
                return nil
            case .waiting(let caller):
                state = .givenUp
                return caller
            }
        }
        caller?.resume(throwing: NotWantedError())
    }
}
