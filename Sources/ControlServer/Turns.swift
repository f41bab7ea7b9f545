import Authenticator

/// Long answers are made one at a time, and the processes that want them take turns.
///
/// So a process that asks for many at once waits for itself, and together they need the memory of one.
struct Turns: Sendable {
    private let ofProcess = Lanes<ConnectionTable.Peer>()
    private let ofAll = Lanes<Bool>()
    private let ofShort = Lanes<ConnectionTable.Peer>()

    /// Makes an answer when its turn comes, unless the client hung up meanwhile.
    func make(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await client.whileThere {
            try await ofProcess.run(client.peer) {
                try await ofAll.run(true) {
                    try Task.checkCancellation()
                    return try await body()
                }
            }
        }
    }

    /// Makes an answer that is short, and soon made: behind those that the same process asked for, and no others.
    ///
    /// So nobody keeps the agent from answering itself, which its signs of life depend on.
    func makeShort(for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Answer) async throws
        -> Answer
    {
        try await client.whileThere {
            try await ofShort.run(client.peer) {
                try Task.checkCancellation()
                return try await body()
            }
        }
    }
}
