import Synchronization

/// Counts the calls that go on to their end when their client hangs up, so that nobody begins them without end.
final class OngoingCalls: Sendable {
    /// How many may be under way at a time.
    struct Bounds {
        var ofProcess = 16
        var ofUser = 64
        var ofAll = 256
        /// So many more for root and for the agent's own user.
        var kept = 64
    }

    /// When it is worth another try, in seconds.
    private static let pause = 5

    private let bounds: Bounds
    private let counts = Mutex<[ConnectionTable.Peer: Int]>([:])

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    func run<Value>(for caller: Caller, _ body: () async throws -> Value) async throws -> Value {
        try await run(for: caller.peer, isFavoured: caller.isFavoured, body)
    }

    /// - Parameter isFavoured: whether the peer is root or the agent's own user, for whom places are kept.
    /// - Throws: ``TooManyCallsError`` if there are too many already, and what `body` throws.
    func run<Value>(
        for peer: ConnectionTable.Peer, isFavoured: Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        try begin(peer, isFavoured)
        defer { end(peer) }
        return try await body()
    }

    private func begin(_ peer: ConnectionTable.Peer, _ isFavoured: Bool) throws(TooManyCallsError) {
        try counts.withLock { counts throws(TooManyCallsError) in
            let ofProcess = counts[peer, default: 0]
            let ofUser = counts.reduce(0) { $0 + ($1.key.uid == peer.uid ? $1.value : 0) }
            let ofAll = counts.values.reduce(0, +)
            guard ofProcess < bounds.ofProcess, ofUser < bounds.ofUser,
                ofAll < bounds.ofAll + (isFavoured ? bounds.kept : 0)
            else {
                throw TooManyCallsError(
                    "\(bounds.ofProcess) such calls of this process, \(bounds.ofUser) of this user, or "
                        + "\(bounds.ofAll) of all, are under way: try again in \(Self.pause) s", seconds: Self.pause)
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
