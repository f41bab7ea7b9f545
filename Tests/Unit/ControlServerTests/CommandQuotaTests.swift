import Journal
import Synchronization
import Testing

@testable import ControlServer

@Suite struct CommandQuotaTests {
    private struct Failure: Error {}

    /// A clock that is set by hand.
    private final class Hand: Sendable {
        private let moment = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { moment.withLock { $0 } }

        func advance(_ seconds: Int) { moment.withLock { $0 += .seconds(seconds) } }
    }

    private let hand = Hand()
    private let quota: CommandQuota

    init() { quota = CommandQuota { [hand] in hand.now } }

    /// What became of a command: nil for one that was refused.
    private func give(
        _ command: JournaledCommand, by uid: UInt32 = 1, countsAlways: Bool = false, fails: Bool = true
    ) async -> Bool? {
        do {
            try await quota.counting(command, by: uid, countsAlways: countsAlways) { if fails { throw Failure() } }
            return true
        } catch is TooManyCallsError {
            return nil
        } catch {
            return false
        }
    }

    @Test func `so many commands may come to nothing, then one each second`() async {
        for _ in 1...CommandQuota.limit { #expect(await give(.enroll) == false) }
        #expect(await give(.enroll) == nil)
        hand.advance(2)
        for expected in [false, false, nil] { #expect(await give(.enroll) == expected) }
        hand.advance(1_000_000)
        for _ in 1...CommandQuota.limit { #expect(await give(.enroll) == false) }
        #expect(await give(.enroll) == nil)
    }

    @Test func `other users, and other commands, are not held up`() async {
        for _ in 1...CommandQuota.limit { _ = await give(.rotatePush) }
        #expect(await give(.rotatePush) == nil)
        #expect(await give(.rotatePush, by: 2) == false)
        #expect(await give(.unenroll) == false)
    }

    @Test func `commands that come to something are not counted`() async {
        for _ in 1...3 * CommandQuota.limit { #expect(await give(.enroll, fails: false) == true) }
    }

    @Test func `one that can be repeated without end is counted whatever it comes to`() async {
        for _ in 1...CommandQuota.limit {
            #expect(await give(.backup, countsAlways: true, fails: false) == true)
        }
        #expect(await give(.backup, countsAlways: true, fails: false) == nil)
    }

    @Test func `a command for many enrollments counts as many, and the one that was counted is one of them`() throws {
        try quota.count(.rotatePush, by: 1)
        try quota.count(.rotatePush, by: 1, cost: 500, counted: 1)
        #expect(throws: TooManyCallsError.self) { try quota.count(.rotatePush, by: 1, cost: 101) }
        try quota.count(.rotatePush, by: 1, cost: 100)
        #expect(throws: TooManyCallsError.self) { try quota.count(.rotatePush, by: 1) }
    }

    @Test func `a command for more enrollments than that takes all, and later ones wait for what it lacks`() throws {
        try quota.count(.rotatePush, by: 1)
        try quota.count(.rotatePush, by: 1, cost: 10_000, counted: 1)
        hand.advance(9_400)
        #expect(throws: TooManyCallsError.self) { try quota.count(.rotatePush, by: 1) }
        hand.advance(1)
        try quota.count(.rotatePush, by: 1)
    }
}
