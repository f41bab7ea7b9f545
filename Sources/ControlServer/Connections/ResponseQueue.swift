import Authenticator
import Synchronization

/// Answers are made in turns: one at a time for each process, one for each user, and the long ones one at a time.
///
/// So a process that asks for many at once waits for itself, a user who has many processes waits for its own, and
/// together they need the memory of one.
struct ResponseQueue: Sendable {
    private let ofProcess = KeyedQueue<ConnectionTable.Peer>()
    private let ofUser = KeyedQueue<UInt32>()
    private let ofAll = KeyedQueue<Bool>()
    private let ofShort = KeyedQueue<ConnectionTable.Peer>()
    private let shortOfUser = KeyedQueue<UInt32>()
    private let ofHealth = KeyedQueue<ConnectionTable.Peer>()
    private let waiting = WaitingCalls()

    /// Makes an answer when its turn comes, unless the client hung up meanwhile.
    ///
    /// - Throws: ``TooManyCallsError`` if too many calls of its user wait already.
    func make(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.run(for: client.peer.uid) {
            try await client.whileThere {
                try await ofProcess.run(client.peer) {
                    try await ofUser.run(client.peer.uid) {
                        try await ofAll.run(true) {
                            try Task.checkCancellation()
                            return try await body()
                        }
                    }
                }
            }
        }
    }

    /// Makes an answer that is short, and soon made: behind those that the same user asked for, and no others.
    func makeShort(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await waiting.run(for: client.peer.uid) {
            try await client.whileThere { try await short(of: client.peer, body) }
        }
    }

    /// Does what is short for a peer, behind what else is short and of the same user.
    func short<Value: Sendable>(
        of peer: ConnectionTable.Peer, _ body: @Sendable () async throws -> Value
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

/// Counts the calls that wait for their turn, also those whose client hung up: they leave when their turn comes.
private final class WaitingCalls: Sendable {
    /// Twice as many as there are connections, unless those were raised.
    private static let maxOfUser = 512
    /// When it is worth another try, in seconds.
    private static let pause = 1

    private let counts = Mutex<[UInt32: Int]>([:])

    func run<Value>(for uid: UInt32, _ body: () async throws -> Value) async throws -> Value {
        try counts.withLock { counts throws(TooManyCallsError) in
            let count = counts[uid, default: 0]
            guard count < Self.maxOfUser else {
                throw TooManyCallsError(
                    "\(Self.maxOfUser) calls of this user wait already: try again in \(Self.pause) s",
                    seconds: Self.pause)
            }
            counts[uid] = count + 1
        }
        defer {
            counts.withLock { counts in
                let left = counts[uid, default: 0] - 1
                counts[uid] = left > 0 ? left : nil
            }
        }
        return try await body()
    }
}
