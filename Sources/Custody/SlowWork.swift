import Dispatch
import Synchronization

/// Threads of their own for what keeps a processor busy for long, so that it holds up none of Swift's.
///
/// Few, since each derivation of a key from a PIN takes 16 MiB.
final class SlowWork: Sendable {
    static let threads = 2
    /// The most calls that wait or run.
    static let most = 1_024

    private let queues = (0..<threads).map { DispatchQueue(label: "slow work \($0)") }
    /// The calls that each thread has.
    private let loads = Mutex([Int](repeating: 0, count: threads))

    /// Runs a call on the thread that has the fewest.
    ///
    /// It goes on to its end also where its caller's task is cancelled: a PIN that is being tried has been tried.
    ///
    /// - Throws: `SlowWorkError`, or what the call throws.
    func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard let index = enter() else { throw SlowWorkError() }
        return try await withCheckedThrowingContinuation { continuation in
            queues[index].async { [self] in
                let result = Result { try call() }
                loads.withLock { $0[index] -= 1 }
                continuation.resume(with: result)
            }
        }
    }

    private func enter() -> Int? {
        loads.withLock { loads in
            guard loads.reduce(0, +) < Self.most, let index = loads.indices.min(by: { loads[$0] < loads[$1] }) else {
                return nil
            }
            loads[index] += 1
            return index
        }
    }
}

/// Too many calls wait already.
package struct SlowWorkError: Error, Equatable, Sendable, CustomStringConvertible {
    package var description: String { "\(SlowWork.most) keys are being opened already; try again later" }
}
