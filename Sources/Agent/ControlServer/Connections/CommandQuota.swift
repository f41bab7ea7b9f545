import Control
import FairSharing
import Journal
import Synchronization

/// Bounds how fast a user gives commands that write something.
///
/// Each token is one command to one enrollment, which leaves entries in the journal and lines in the log. None of these
/// is ever dropped; so whoever gives too many is refused before anything is written. A command that did what it was to
/// do is given back, and decisions are not counted: there are as many as there are requests.
final class CommandQuota: Sendable {
    /// The most at once.
    static let limit = 600
    /// Users times commands that have a bucket of their own; all others share one.
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
    /// - Parameter countsAlways: whether it counts also if it succeeds: one that can be repeated without end.
    /// - Throws: ``TooManyCallsError`` if there were too many, and what `body` throws.
    func run<Value>(
        _ command: JournaledCommand, by uid: UInt32, countsAlways: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        try take(command, by: uid)
        let value = try await body()
        if !countsAlways { rates.withLock { $0.giveBack(Key(uid: uid, command: command)) } }
        return value
    }

    /// Counts a command for so many enrollments, of which some are counted already.
    ///
    /// A command for more than ``limit`` takes all that there may be, and what it lacks is missing to later ones.
    ///
    /// - Throws: ``TooManyCallsError`` if there were too many; then no more are counted.
    func take(
        _ command: JournaledCommand, by uid: UInt32, cost: Int = 1, counted: Int = 0
    ) throws(TooManyCallsError) {
        let (key, now) = (Key(uid: uid, command: command), start.duration(to: now()))
        let seconds = rates.withLock { rates in
            rates.giveBack(key, cost: counted)
            let seconds = rates.take(key, cost: cost, now: now)
            if seconds != nil { _ = rates.take(key, cost: counted, now: now) }
            return seconds
        }
        guard let seconds else { return }
        throw TooManyCallsError(
            "this user gave such commands for more than \(Self.limit) enrollments, or that came to nothing, and one "
                + "more is taken each second", seconds: seconds)
    }
}

/// A call that is refused because there are too many of its kind: its client may come again later.
struct TooManyCallsError: Error, Equatable {
    /// A sentence for a person; at its end, the time until the next try.
    let message: String
    /// When it is worth another try, in seconds.
    let seconds: Int
    let token: ErrorToken

    init(_ reason: String, seconds: Int, _ token: ErrorToken = .tooManyRequests) {
        message = "\(reason): try again in \(seconds) s"
        self.seconds = seconds
        self.token = token
    }
}
