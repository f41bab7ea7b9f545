import Control
import Synchronization

/// Counts the calls that go on to their end when their client hangs up, so that nobody begins them without end.
final class OngoingCalls: Sendable {
    private let mostOfProcess: Int
    private let most: Int
    private let counts = Mutex<[ConnectionTable.Peer: Int]>([:])

    init(mostOfProcess: Int = 16, most: Int = 256) {
        self.mostOfProcess = mostOfProcess
        self.most = most
    }

    /// - Throws: `ControlError` where there are too many already, and what `body` throws.
    func run<Value>(for peer: ConnectionTable.Peer, _ body: () async throws -> Value) async throws -> Value {
        try begin(peer)
        defer { end(peer) }
        return try await body()
    }

    private func begin(_ peer: ConnectionTable.Peer) throws(ControlError) {
        try counts.withLock { counts throws(ControlError) in
            let ofProcess = counts[peer, default: 0]
            guard ofProcess < mostOfProcess, counts.values.reduce(0, +) < most else {
                throw ControlError(
                    .failed, "\(mostOfProcess) such calls of this process, or \(most) of all, are under way: try later")
            }
            counts[peer] = ofProcess + 1
        }
    }

    private func end(_ peer: ConnectionTable.Peer) {
        counts.withLock { counts in
            let left = counts[peer, default: 0] - 1
            counts[peer] = left > 0 ? left : nil
        }
    }
}
