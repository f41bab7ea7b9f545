import FairSharing

/// Queues for answers: long ones one at a time for all, short ones one at a time for each user.
///
/// Health answers are made one at a time for each process. A process waits for its own calls, and a user for the calls
/// of its processes. Together, the long answers need the memory of one.
struct ResponseQueue: Sendable {
    private let ofProcess = FairQueue<Caller.Peer>(.oneOfKey)
    private let ofUser = FairQueue<UInt32>(.init(capacity: 1))
    private let ofShort = FairQueue<Caller.Peer>(.oneOfKey)
    private let shortOfUser = FairQueue<UInt32>(.oneOfKey)
    private let ofHealth = FairQueue<Caller.Peer>(.oneOfKey)
    /// The calls that wait for their turn or have it: for a user, at most twice the default number of connections.
    ///
    /// A call that waits leaves as soon as its client hangs up.
    private let waiting = OngoingCalls(
        ofProcess: 512, ofUser: 512, ofAll: 2_048, kept: 512,
        refusal: TooManyCallsError(
            "512 calls of this user, or 2048 of all, wait already", seconds: 1))

    /// Makes an answer when its turn comes, unless the client hung up meanwhile.
    ///
    /// - Throws: ``TooManyCallsError`` if too many calls of its process, of its user or of all wait already.
    func make(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.withPlace(for: client.caller) {
            try await client.whileThere {
                try await ofProcess.inTurn(client.peer) {
                    try await ofUser.inTurn(client.peer.uid) {
                        try Task.checkCancellation()
                        return try await body()
                    }
                }
            }
        }
    }

    /// Makes an answer that is short and quick to make; waits only for the short answers of the same user.
    ///
    /// - Throws: ``TooManyCallsError`` if too many calls of its process, of its user or of all wait already.
    func makeShort(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.withPlace(for: client.caller) {
            try await client.whileThere { try await short(of: client.peer, body) }
        }
    }

    /// Runs short work for a peer; waits only for the short work of the same user.
    func short<Value: Sendable>(
        of peer: Caller.Peer, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await ofShort.inTurn(peer) {
            try await shortOfUser.inTurn(peer.uid) {
                try Task.checkCancellation()
                return try await body()
            }
        }
    }

    /// Makes the health answer.
    ///
    /// Waits only for the health answers of the same process. So no client can delay the agent's own health call, on
    /// which the keep-alive pings to the service manager's watchdog depend.
    func makeHealth(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await client.whileThere {
            try await ofHealth.inTurn(client.peer) {
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
