/// A rate limit with a token bucket for each key, from which a call takes its cost.
///
/// The total is bounded too: `maxKeys` keys have a bucket of their own, and all other keys share one. A bucket that is
/// full again is forgotten, at the latest by the first call after twice the time in which an empty bucket fills.
package struct RateLimit<Key: Hashable & Sendable>: Sendable {
    /// The most tokens in a bucket.
    private let burst: Int
    /// The time in which a bucket gains one token.
    private let interval: Duration
    private let maxKeys: Int
    /// The time at which each bucket is full again; the key `nil` is the shared bucket.
    private var fullAt: [Key?: Duration] = [:]
    /// The time that has passed, which does not decrease if the caller's clock is set back.
    private var elapsed: Duration = .zero
    private var last: Duration?
    /// The earliest time of the next search for full buckets when a new bucket has no place.
    private var nextLook: Duration = .zero
    /// The time of the next search for full buckets in any case.
    private var nextSweep: Duration = .zero

    /// The number of keys that have a bucket.
    package var count: Int { fullAt.count }

    /// - Parameters:
    ///   - burst: the tokens of a full bucket, at least one.
    ///   - interval: the time for one more token.
    ///   - maxKeys: the number of keys with a bucket of their own.
    package init(burst: Int, every interval: Duration, maxKeys: Int) {
        self.burst = burst
        self.interval = interval
        self.maxKeys = maxKeys
    }

    /// Takes as many tokens as a call costs.
    ///
    /// A cost above the size of the bucket needs a full bucket, and leaves a debt.
    ///
    /// - Parameters:
    ///   - cost: at least 0.
    ///   - now: the time since any fixed moment. A clock that was set back neither fills nor blocks a bucket.
    /// - Returns: `nil` if the tokens were taken. Otherwise none was taken, and the caller may try again after this
    ///   number of seconds.
    package mutating func spend(_ key: Key, cost: Int = 1, now: Duration) -> Int? {
        pass(now)
        let key = bucket(of: key)
        let from = max(fullAt[key] ?? elapsed, elapsed)
        let wait = from + interval * min(cost, burst) - (elapsed + interval * burst)
        guard wait <= .zero else { return Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0) }
        fullAt[key] = from + interval * cost
        return nil
    }

    /// Returns tokens that a call took and did not need.
    package mutating func giveBack(_ key: Key, cost: Int = 1) {
        let key = fullAt[key] == nil ? nil : Optional(key)
        guard let full = fullAt[key] else { return }
        let left = full - interval * cost
        fullAt[key] = left > elapsed ? left : nil
    }

    private mutating func pass(_ now: Duration) {
        if let last, now > last { elapsed += now - last }
        last = now
        guard elapsed >= nextSweep else { return }
        fullAt = fullAt.filter { $0.value > elapsed }
        // Each bucket that stays was used since the last sweep, or is in debt. A sweep costs no more than the calls
        // before it.
        nextSweep = elapsed + interval * burst
    }

    /// Returns the key if it has a bucket or may get one, or `nil` for the shared bucket.
    private mutating func bucket(of key: Key) -> Key? {
        guard fullAt[key] == nil, fullAt.count >= maxKeys else { return key }
        if elapsed >= nextLook {
            fullAt = fullAt.filter { $0.value > elapsed }
            // At most one search per interval, so that a stream of new keys does not cause a search at each call.
            nextLook = elapsed + interval
        }
        return fullAt.count < maxKeys ? key : nil
    }
}
