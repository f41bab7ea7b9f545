import Control
import FairSharing
import Journal
import Synchronization

/// Limits the rate of a user's commands that write to the journal.
///
/// Each token is one command for one enrollment, which leaves entries in the journal and lines in the log. Such entries
/// are never dropped. So a user with too many commands is refused before anything is written. A command that succeeds
/// gives its token back. Decisions are not counted: their number is that of the requests.
final class CommandQuota: Sendable {
    /// The most at once.
    static let limit = 600
    /// Pairs of user and command that have a bucket of their own; all others share one.
    private static let maxKeys = 4_096

    private struct Key: Hashable {
        let uid: UInt32
        let command: JournaledCommand
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let rates = Mutex(RateLimit<Key>(burst: limit, every: .seconds(1), maxKeys: maxKeys))

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        start = now()
    }

    /// Runs a command that counts unless it succeeds.
    ///
    /// - Parameter countsAlways: counts the command also if it succeeds, because it can be repeated without end.
    /// - Throws: ``TooManyCallsError`` if there were too many, and what `body` throws.
    func counting<Value>(
        _ command: JournaledCommand, by uid: UInt32, countsAlways: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        try count(command, by: uid)
        let value = try await body()
        if !countsAlways { rates.withLock { $0.giveBack(Key(uid: uid, command: command)) } }
        return value
    }

    /// Counts a command for `cost` enrollments, of which `counted` are counted already.
    ///
    /// A command for more than ``limit`` enrollments uses up all tokens, and the rest is subtracted from later ones.
    ///
    /// - Throws: ``TooManyCallsError`` if there were too many. Then no more are counted.
    func count(
        _ command: JournaledCommand, by uid: UInt32, cost: Int = 1, counted: Int = 0
    ) throws(TooManyCallsError) {
        let (key, now) = (Key(uid: uid, command: command), start.duration(to: now()))
        let seconds = rates.withLock { rates in
            rates.giveBack(key, cost: counted)
            let seconds = rates.spend(key, cost: cost, now: now)
            if seconds != nil { _ = rates.spend(key, cost: counted, now: now) }
            return seconds
        }
        guard let seconds else { return }
        throw TooManyCallsError(
            "this user gave such commands for more than \(Self.limit) enrollments, or that came to nothing, and one "
                + "more is taken each second", seconds: seconds)
    }
}

/// The refusal of a call because of too many of its kind; its client may try again later.
struct TooManyCallsError: Error, Equatable {
    /// A sentence for a person; it ends with the time until the next try.
    let message: String
    /// The seconds until the next try.
    let seconds: Int
    let token: ErrorToken

    init(_ reason: String, seconds: Int, _ token: ErrorToken = .tooManyRequests) {
        message = "\(reason): try again in \(seconds) s"
        self.seconds = seconds
        self.token = token
    }
}
