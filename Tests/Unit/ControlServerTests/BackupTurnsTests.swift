import Control
import Records
import Synchronization
import Testing

@testable import ControlServer

@Suite(.timeLimit(.minutes(20))) struct BackupTurnsTests {
    /// A clock that is set by hand.
    private final class Hand: AgentClock {
        private struct State {
            var steady = 0.0
            var alarms: [Int: (at: Double, action: @Sendable () -> Void)] = [:]
            var next = 0
        }

        private let state = Mutex(State())

        var now: Int64 { Int64(steady) }
        var steady: Double { state.withLock { $0.steady } }
        var alarms: Int { state.withLock { $0.alarms.count } }

        func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }

        func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
            let number = state.withLock { state in
                state.next += 1
                state.alarms[state.next] = (state.steady + seconds, action)
                return state.next
            }
            return Alarm { self.state.withLock { $0.alarms[number] = nil } }
        }

        func advance(_ seconds: Double) {
            let due = state.withLock { state in
                state.steady += seconds
                let due = state.alarms.filter { $0.value.at <= state.steady }
                for number in due.keys { state.alarms[number] = nil }
                return due.values.map(\.action)
            }
            for action in due { action() }
        }
    }

    private let hand = Hand()
    private let turns: BackupTurns
    private let root = Self.caller(0, isFavoured: true)
    private let one = Self.caller(1_000)
    private let other = Self.caller(1_001)

    init() { turns = BackupTurns(clock: hand) }

    private static func caller(_ uid: UInt32, isFavoured: Bool = false) -> Caller {
        Caller(peer: Caller.Peer(uid: uid, pid: 1), gid: uid, right: .decide, isFavoured: isFavoured)
    }

    /// When a caller who gets no turn may try again, in seconds; nil if it gets one, which it lets go of at once.
    private func wait(_ caller: Caller) throws -> Int? {
        do throws(TooManyCallsError) {
            _ = try turns.begin(for: caller, size: 0)
            return nil
        } catch {
            #expect(error.token == .tryLater && error.message.hasSuffix(": try again in \(error.seconds) s"))
            return error.seconds
        }
    }

    @Test func `one backup is made at a time, and the turn is over when it is let go of`() throws {
        var turn: BackupTurn? = try turns.begin(for: one, size: 0)
        #expect(try wait(other) == 60)
        #expect(turn?.end == nil)
        turn = nil
        #expect(turn == nil)
        #expect(try wait(other) == nil)
        #expect(hand.alarms == 0)
    }

    @Test func `once all is sent the next backup can begin, and nothing is cut any more`() throws {
        let turn = try turns.begin(for: one, size: 0)
        turn.whenCut { Issue.record("cut") }
        turn.complete()
        #expect(turn.end == .complete && turn.refusal == nil)
        #expect(try wait(root) == nil)
        hand.advance(86_400)
        #expect(turn.end == .complete)
    }

    @Test func `a user gets one an hour, and root as many as it likes`() throws {
        #expect(try wait(one) == nil)
        hand.advance(600)
        #expect(try wait(one) == 3_000)
        #expect(try wait(other) == nil)
        hand.advance(3_000)
        #expect(try wait(one) == nil)
        for _ in 1...5 { #expect(try wait(root) == nil) }
        turns.giveBack(to: one)
        #expect(try wait(one) == nil)
    }

    @Test func `root takes the turn from another user, and nobody takes root's`() async throws {
        let turn = try turns.begin(for: one, size: 0)
        let wasCut = Mutex(false)
        turn.whenCut { wasCut.withLock { $0 = true } }
        let ofRoot = try turns.begin(for: root, size: 0)
        #expect(wasCut.withLock { $0 } && turn.end == .taken)
        #expect(try wait(root) == 60)
        #expect(try wait(other) == 60)
        #expect(ofRoot.end == nil)
        // That one lets go of its turn changes nothing for the one that has it.
        withExtendedLifetime(turn) {}
        #expect(try wait(other) == 60)
        withExtendedLifetime(ofRoot) {}
    }

    @Test func `what is under way is cancelled when the turn is taken, and says so`() async throws {
        let turn = try turns.begin(for: one, size: 0)
        let error = await #expect(throws: TooManyCallsError.self) {
            try await turn.withTurn { [turns, root] in
                _ = try turns.begin(for: root, size: 0)
                try await Task.sleep(for: .seconds(86_400))
            }
        }
        #expect(error == turn.refusal && error?.message.contains("root or the agent's own user") == true)
    }

    @Test func `a backup has ten minutes, and a second more for each megabyte`() throws {
        #expect(BackupTurns.seconds(for: 240_000_000) == 840)
        #expect(BackupTurns.seconds(for: -1) == 600)
        #expect(BackupTurns.seconds(for: .max) < ControlTimeout.backup)
        let turn = try turns.begin(for: root, size: 240_000_000)
        hand.advance(839)
        #expect(turn.end == nil)
        hand.advance(1)
        #expect(turn.end == .late)
        #expect(turn.refusal?.message == "the backup was not complete after 840 s: try again in 60 s")
        let wasCut = Mutex(false)
        turn.whenCut { wasCut.withLock { $0 = true } }
        #expect(wasCut.withLock { $0 })
        #expect(try wait(one) == nil)
    }
}
