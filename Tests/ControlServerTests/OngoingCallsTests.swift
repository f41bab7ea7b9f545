import Control
import Testing

@testable import ControlServer

@Suite struct OngoingCallsTests {
    private static let peers = (1...3).map { ConnectionTable.Peer(uid: 0, pid: Int32($0)) }

    private let calls = OngoingCalls(mostOfProcess: 2, most: 3)

    private func isTaken(_ peer: ConnectionTable.Peer) async throws -> Bool {
        do {
            try await calls.run(for: peer) {}
            return true
        } catch let error as ControlError {
            #expect(error.message.contains("are under way"))
            return false
        }
    }

    @Test func `a process has so many calls under way, and one more is refused`() async throws {
        try await calls.run(for: Self.peers[0]) {
            #expect(try await isTaken(Self.peers[0]))
            try await calls.run(for: Self.peers[0]) {
                let (own, other) = (try await isTaken(Self.peers[0]), try await isTaken(Self.peers[1]))
                #expect(!own && other)
            }
            #expect(try await isTaken(Self.peers[0]), "one has ended")
        }
    }

    @Test func `all processes together have so many, and one more is refused`() async throws {
        try await calls.run(for: Self.peers[0]) {
            try await calls.run(for: Self.peers[0]) {
                try await calls.run(for: Self.peers[1]) {
                    let third = try await isTaken(Self.peers[2])
                    #expect(!third)
                }
                #expect(try await isTaken(Self.peers[2]))
            }
        }
    }

    @Test func `a call that fails is over`() async throws {
        struct Failure: Error {}
        for _ in 1...5 {
            await #expect(throws: Failure.self) {
                try await calls.run(for: Self.peers[0]) { throw Failure() }
            }
        }
    }
}
