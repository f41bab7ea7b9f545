import Authenticator
import Synchronization

/// Bounds how fast a user gives commands that write something and come to nothing.
///
/// Each leaves an entry in the journal and a line in the log. None of these is ever dropped; so whoever gives too many
/// is refused before anything is written. A command that did what it was to do is given back, and decisions are not
/// counted: there are as many as there are requests.
final class CommandQuota: Sendable {
    /// The most at once.
    static let limit = 600
    /// One more each second.
    private static let refill: Duration = .seconds(1)

    private struct Key: Hashable {
        let uid: UInt32
        let command: JournaledCommand
    }

    private struct Bucket {
        var left: Int
        /// Up to when it was filled.
        var filled: ContinuousClock.Instant

        mutating func fill(_ now: ContinuousClock.Instant) {
            let seconds = max(filled.duration(to: now) / refill, 0).rounded(.down)
            guard seconds < Double(limit) else {
                (left, filled) = (limit, now)
                return
            }
            left = min(left + Int(seconds), limit)
            filled += refill * Int(seconds)
        }
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    /// Of those who have not all.
    private let buckets = Mutex<[Key: Bucket]>([:])

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Runs a command that counts unless it succeeds.
    ///
    /// - Parameter countsAlways: whether it counts also if it succeeds: one that can be repeated without end.
    /// - Throws: ``TooManyCallsError`` if there were too many, and what `body` throws.
    func run<Value>(
        _ command: JournaledCommand, by uid: UInt32, countsAlways: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        let key = Key(uid: uid, command: command)
        try take(key)
        let value = try await body()
        if !countsAlways { giveBack(key) }
        return value
    }

    private func take(_ key: Key) throws(TooManyCallsError) {
        let now = now()
        try buckets.withLock { buckets throws(TooManyCallsError) in
            var bucket = buckets[key] ?? Bucket(left: Self.limit, filled: now)
            bucket.fill(now)
            guard bucket.left > 0 else {
                buckets[key] = bucket
                throw TooManyCallsError(
                    "this user gave more than \(Self.limit) such commands that came to nothing: one is taken each second",
                    seconds: 1)
            }
            bucket.left -= 1
            buckets[key] = bucket
        }
    }

    private func giveBack(_ key: Key) {
        buckets.withLock { buckets in
            guard var bucket = buckets[key] else { return }
            bucket.left = min(bucket.left + 1, Self.limit)
            buckets[key] = bucket.left == Self.limit ? nil : bucket
        }
    }
}

/// A call that is refused because there are too many of its kind: its client may come again later.
struct TooManyCallsError: Error, Equatable {
    /// One sentence for a person.
    let message: String
    /// When it is worth another try, in seconds.
    let seconds: Int

    init(_ message: String, seconds: Int) {
        self.message = message
        self.seconds = seconds
    }
}
