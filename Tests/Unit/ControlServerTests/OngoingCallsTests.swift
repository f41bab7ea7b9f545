import Testing

@testable import ControlServer

@Suite struct OngoingCallsTests {
    /// Two processes of one user, and one of another.
    private static let peers = [(1, 1), (1, 2), (2, 3)].map { Caller.Peer(uid: $0, pid: Int32($1)) }
    private static let root = Caller.Peer(uid: 0, pid: 4)

    private let calls = OngoingCalls(ofProcess: 2, ofUser: 3, ofAll: 4, kept: 1)

    private func isTaken(_ peer: Caller.Peer) async throws -> Bool {
        do {
            try await calls.withPlace(for: peer, isFavoured: peer.uid == 0) {}
            return true
        } catch let refusal as TooManyCallsError {
            #expect(refusal.message.contains("are under way") && refusal.seconds > 0)
            return false
        }
    }

    /// Does `body` while these have a call under way each.
    private func during(_ peers: [Caller.Peer], _ body: () async throws -> Void) async throws {
        guard let first = peers.first else { return try await body() }
        try await calls.withPlace(for: first, isFavoured: first.uid == 0) {
            try await during(Array(peers.dropFirst()), body)
        }
    }

    @Test func `a process has so many calls under way, and one more is refused`() async throws {
        try await during([Self.peers[0]]) {
            #expect(try await isTaken(Self.peers[0]))
            try await during([Self.peers[0]]) {
                let (own, other) = (try await isTaken(Self.peers[0]), try await isTaken(Self.peers[1]))
                #expect(!own && other)
            }
            #expect(try await isTaken(Self.peers[0]), "one has ended")
        }
    }

    @Test func `a user has so many, by however many processes, and another user's are taken`() async throws {
        try await during([Self.peers[0], Self.peers[0], Self.peers[1]]) {
            let (own, other) = (try await isTaken(Self.peers[1]), try await isTaken(Self.peers[2]))
            #expect(!own && other)
        }
    }

    @Test func `all users together have so many, and places are kept for root and the agent's user`() async throws {
        try await during([Self.peers[0], Self.peers[0], Self.peers[1], Self.peers[2]]) {
            let (other, root) = (try await isTaken(Self.peers[2]), try await isTaken(Self.root))
            #expect(!other && root)
        }
    }

    @Test func `a call that fails is over`() async throws {
        struct Failure: Error {}
        for _ in 1...5 {
            await #expect(throws: Failure.self) {
                try await calls.withPlace(for: Self.peers[0], isFavoured: false) { throw Failure() }
            }
        }
    }
}
