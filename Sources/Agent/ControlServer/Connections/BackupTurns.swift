import Control
import FairSharing
import Records
import Synchronization

/// Turns for backups: one at a time, each with a limit of time, and for most users one an hour.
///
/// A backup needs as much room on the disk as the database, and lasts as long as its client reads.
final class BackupTurns: Sendable {
    /// The seconds between two backups of a user, except for root and the agent's own user.
    static let interval = 3_600
    /// The seconds that a backup may take, plus one for each ``leastRate`` bytes.
    static let patience = 600
    /// In bytes a second.
    static let leastRate: Int64 = 1_000_000
    /// The seconds for `Retry-After` while a backup is in progress.
    static let pause = 60
    /// The users that are remembered for an hour; all others share one backup an hour.
    private static let maxUsers = 4_096

    private struct State {
        /// A turn ends when its last reference is released.
        weak var turn: BackupTurn?
        var rates = RateLimit<UInt32>(burst: 1, every: .seconds(interval), maxKeys: maxUsers)
    }

    private let clock: any AgentClock
    private let state = Mutex(State())

    init(clock: any AgentClock) { self.clock = clock }

    /// Begins a turn, which ends when it is released.
    ///
    /// Root and the agent's own user take the turn from any other user, whose backup is cut off.
    ///
    /// - Parameter size: the approximate bytes of the backup.
    /// - Throws: ``TooManyCallsError`` if another backup is in progress, or if the user's last one was less than an
    ///   hour ago.
    func begin(for caller: Caller, size: Int64) throws(TooManyCallsError) -> BackupTurn {
        let seconds = Self.seconds(for: size)
        let turn = BackupTurn(isFavoured: caller.isFavoured, seconds: seconds)
        let now = Duration.seconds(clock.steady)
        let taken = try state.withLock { state throws(TooManyCallsError) in
            let other = state.turn.flatMap { $0.isOver ? nil : $0 }
            if let other, other.isFavoured || !caller.isFavoured {
                throw TooManyCallsError("another backup is being made", seconds: Self.pause, .tryLater)
            }
            if !caller.isFavoured, let wait = state.rates.spend(caller.peer.uid, now: now) {
                throw TooManyCallsError(
                    "this user made a backup less than an hour ago, and root and the agent's own user alone may sooner",
                    seconds: wait, .tryLater)
            }
            state.turn = turn
            return other
        }
        taken?.finish(.taken)
        turn.setAlarm(clock.alarm(after: Double(seconds)) { [weak turn] in turn?.finish(.late) })
        return turn
    }

    /// Gives the user another backup within the hour, if this one failed through no fault of the user.
    func giveBack(to caller: Caller) {
        guard !caller.isFavoured else { return }
        state.withLock { $0.rates.giveBack(caller.peer.uid) }
    }

    /// The most seconds of a backup of this size: fewer than a client waits.
    static func seconds(for size: Int64) -> Int {
        min(patience + Int(max(0, size) / leastRate), ControlTimeout.backup - ControlTimeout.margin)
    }
}

/// A turn to make a backup.
final class BackupTurn: Sendable {
    enum End: Sendable {
        /// Root or the agent's own user took the turn.
        case taken
        /// The turn reached its limit.
        case late
        /// The whole backup was sent.
        case complete
    }

    private struct State {
        var end: End?
        var cut: (@Sendable () -> Void)?
        var alarm: Alarm?
    }

    let isFavoured: Bool
    private let seconds: Int
    private let state = Mutex(State())

    fileprivate init(isFavoured: Bool, seconds: Int) {
        self.isFavoured = isFavoured
        self.seconds = seconds
    }

    deinit { state.withLock { $0.alarm }?.cancel() }

    var isOver: Bool { end != nil }

    /// The reason of its end, or `nil` while it is in progress.
    var end: End? { state.withLock { $0.end } }

    /// The error for a client that has received no byte yet, or `nil` if the backup was not cut off.
    var refusal: TooManyCallsError? {
        end.flatMap { end in
            switch end {
            case .taken:
                TooManyCallsError(
                    "root or the agent's own user makes a backup instead of this one", seconds: BackupTurns.pause,
                    .tryLater)
            case .late:
                TooManyCallsError(
                    "the backup was not complete after \(seconds) s", seconds: BackupTurns.pause, .tryLater)
            case .complete: nil
            }
        }
    }

    /// Ends the turn before its client knows that it has all, so that the next backup can begin at once.
    func complete() {
        state.withLock { state in
            guard state.end == nil else { return }
            (state.end, state.cut) = (.complete, nil)
        }
    }

    /// Runs work, and cancels it if the turn is cut off.
    ///
    /// - Throws: ``refusal`` if the turn was cut off, and what `body` throws.
    func withTurn<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        do {
            let value = try await cuttable(body) { cut in
                whenCut(cut)
                return { self.whenCut(nil) }
            }
            if let refusal { throw refusal }
            return value
        } catch {
            throw refusal ?? error
        }
    }

    /// Sets the action for a cut-off, or runs it at once if the turn has ended.
    ///
    /// Replaces the action before it.
    func whenCut(_ cut: (@Sendable () -> Void)?) {
        let isOver = state.withLock { state in
            state.cut = state.end == nil ? cut : nil
            return state.end != nil
        }
        if isOver { cut?() }
    }

    fileprivate func setAlarm(_ alarm: Alarm) { state.withLock { $0.alarm = alarm } }

    fileprivate func finish(_ end: End) {
        let cut = state.withLock { state in
            guard state.end == nil else { return nil as (@Sendable () -> Void)? }
            state.end = end
            defer { state.cut = nil }
            return state.cut
        }
        cut?()
    }
}
