import FairSharing

/// Answers are made in turns: one at a time for each process, one for each user, and the long ones one at a time.
///
/// So a process that asks for many at once waits for itself, a user who has many processes waits for its own, and
/// together they need the memory of one.
struct ResponseQueue: Sendable {
    private let ofProcess = FairQueue<Caller.Peer>(.oneOfKey)
    private let ofUser = FairQueue<UInt32>(.init(capacity: 1))
    private let ofShort = FairQueue<Caller.Peer>(.oneOfKey)
    private let shortOfUser = FairQueue<UInt32>(.oneOfKey)
    private let ofHealth = FairQueue<Caller.Peer>(.oneOfKey)
    /// The calls that wait for their turn, of a user twice as many as there are connections unless those were raised.
    ///
    /// Also those whose client hung up: they leave when their turn comes.
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

    /// Makes an answer that is short, and soon made: behind those that the same user asked for, and no others.
    func makeShort(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.run(for: client.caller) {
            try await client.whileThere { try await short(of: client.peer, body) }
        }
    }

    /// Does what is short for a peer, behind what else is short and of the same user.
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

    /// Makes the agent's word on how it is: behind those that the same process asked for, and no others.
    ///
    /// So nobody keeps the agent from answering itself, which its signs of life depend on.
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
    /// A limit of one at a time for each key, and none for all.
    fileprivate static var oneOfKey: Self { Self(capacity: .max, capacityOfKey: 1) }
}
