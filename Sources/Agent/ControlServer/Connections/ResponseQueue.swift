import FairSharing

/// Queues for answers: one at a time for each process and for each user, and one long answer at a time.
///
/// So a process with many calls at once waits for itself, and a user with many processes waits for its own. Together
/// they need the memory of one answer.
struct ResponseQueue: Sendable {
    private let ofProcess = FairQueue<Caller.Peer>(.oneOfKey)
    private let ofUser = FairQueue<UInt32>(.init(capacity: 1))
    private let ofShort = FairQueue<Caller.Peer>(.oneOfKey)
    private let shortOfUser = FairQueue<UInt32>(.oneOfKey)
    private let ofHealth = FairQueue<Caller.Peer>(.oneOfKey)
    /// The calls that wait for their turn: for a user, twice the default number of connections.
    ///
    /// This includes calls whose client hung up: they leave when their turn comes.
    private let waiting = OngoingCalls(
        ofProcess: 512, ofUser: 512, ofAll: 2_048, kept: 512,
        refusal: TooManyCallsError(
            "512 calls of this user, or 2048 of all, wait already", seconds: 1))

    /// Makes an answer when its turn comes, unless the client hung up meanwhile.
    ///
    /// - Throws: ``TooManyCallsError`` if too many calls of its user wait already.
    func make(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.run(for: client.caller) {
            try await client.whileThere {
                try await ofProcess.run(client.peer) {
                    try await ofUser.run(client.peer.uid) {
                        try Task.checkCancellation()
                        return try await body()
                    }
                }
            }
        }
    }

    /// Makes an answer that is short and quick to make; waits only for the short answers of the same user.
    func makeShort(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.run(for: client.caller) {
            try await client.whileThere { try await short(of: client.peer, body) }
        }
    }

    /// Runs short work for a peer; waits only for the short work of the same user.
    func short<Value: Sendable>(
        of peer: Caller.Peer, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await ofShort.run(peer) {
            try await shortOfUser.run(peer.uid) {
                try Task.checkCancellation()
                return try await body()
            }
        }
    }

    /// Makes the health answer.
    ///
    /// Waits only for the health answers of the same process.
    ///
    /// So no client can delay the agent's call to itself, on which its keep-alive pings depend.
    func makeHealth(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await client.whileThere {
            try await ofHealth.run(client.peer) {
                try Task.checkCancellation()
                return try await body()
            }
        }
    }
}

extension FairQueue.Bounds {
    /// A limit of one at a time for each key, without a limit for all.
    fileprivate static var oneOfKey: Self { Self(capacity: .max, capacityOfKey: 1) }
}
