import Records
import Synchronization
import Testing

@testable import ControlServer

@Suite struct PushRotationsTests {
    private struct Failure: Error {}

    /// A clock that is set by hand.
    private final class Hand: Sendable {
        private let moment = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { moment.withLock { $0 } }

        func advance(_ seconds: Int) { moment.withLock { $0 += .seconds(seconds) } }
    }

    private let hand = Hand()
    private let rotations: PushRotations
    private let ids: [EnrollmentID]

    init() throws {
        rotations = PushRotations { [hand] in hand.now }
        ids = try ["a", "b", "c"].map { try #require(EnrollmentID(String(repeating: $0, count: 20))) }
    }

    /// Rotates some, and does `body` meanwhile.
    ///
    /// - Returns: those that were rotated, or when it is worth another try.
    private func rotate(
        _ candidates: [EnrollmentID], ofAll: Bool = true, isFavoured: Bool = false, fails: Bool = false,
        _ body: () async throws -> Void = {}
    ) async throws -> (rotated: Set<EnrollmentID>, wait: Int?) {
        do {
            let rotated = try await rotations.rotate(ofAll: ofAll, isFavoured: isFavoured) { begin, commit in
                let begun = try begin(candidates)
                if fails { throw Failure() }
                commit()
                try await body()
                return begun
            }
            return (rotated, nil)
        } catch let refusal as TooManyCallsError {
            return ([], refusal.seconds)
        }
    }

    @Test func `each is rotated once an hour, and those that were not go on`() async throws {
        #expect(try await rotate([ids[0]], ofAll: false).rotated == [ids[0]])
        #expect(try await rotate(ids).rotated == [ids[1], ids[2]])
        #expect(try await rotate(ids).wait == 3_600)
        hand.advance(3_599)
        #expect(try await rotate([ids[0]], ofAll: false).wait == 1)
        hand.advance(1)
        #expect(try await rotate(ids).rotated == Set(ids))
    }

    @Test func `while one of all is under way there is no other of all, and none of the same enrollment`() async throws
    {
        let outer = try await rotate([ids[0], ids[1]]) {
            let ofAll = try await rotate(ids, isFavoured: true)
            let same = try await rotate([ids[0]], ofAll: false, isFavoured: true)
            let another = try await rotate([ids[2]], ofAll: false)
            #expect(ofAll.wait == 30 && same.wait == 30 && another.rotated == [ids[2]])
        }
        #expect(outer.rotated == [ids[0], ids[1]])
    }

    @Test func `root and the agent's user need not wait an hour`() async throws {
        for _ in 1...3 { #expect(try await rotate(ids, isFavoured: true).rotated == Set(ids)) }
    }

    @Test func `one that changed nothing does not count`() async throws {
        for _ in 1...3 {
            await #expect(throws: Failure.self) { try await rotate(ids, fails: true) }
        }
        #expect(try await rotate(ids).rotated == Set(ids))
    }
}
