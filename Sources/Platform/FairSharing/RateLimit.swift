/// A rate limit: a token bucket for each key, which a call empties by its cost.
///
/// The sum is bounded too: so many keys have a bucket of their own, and all others share one. A bucket that is full
/// again is forgotten: by the first call after twice the time in which an empty one fills, at the latest.
package struct RateLimit<Key: Hashable & Sendable>: Sendable {
    /// The most tokens of a bucket.
    private let burst: Int
    /// The time for one more token.
    private let interval: Duration
    private let maxKeys: Int
    /// The moment at which each bucket is full again; `nil` is the key of those that share one.
    private var fullAt: [Key?: Duration] = [:]
    /// The time that has passed, whatever the caller's clock was set to.
    private var elapsed: Duration = .zero
    private var last: Duration?
    /// The earliest moment to look for buckets that are full again because there is no place for another.
    private var nextLook: Duration = .zero
    /// When it is looked for them in any case.
    private var nextSweep: Duration = .zero

    /// The number of keys that have a bucket.
    package var count: Int { fullAt.count }

    /// - Parameters:
    ///   - burst: tokens, at least one.
    ///   - interval: for one more token.
    ///   - maxKeys: keys with a bucket of their own.
    package init(burst: Int, every interval: Duration, maxKeys: Int) {
        self.burst = burst
        self.interval = interval
        self.maxKeys = maxKeys
    }

    /// Takes as many tokens as a call costs.
    ///
    /// A cost of more than the whole bucket takes a full one, and leaves a debt.
    ///
    /// - Parameters:
    ///   - cost: at least 0.
    ///   - now: since any moment that is always the same; a clock that was set back neither fills nor blocks.
    /// - Returns: `nil` if they were there; else nothing was taken, and another try is worth it after so many seconds.
    package mutating func take(_ key: Key, cost: Int = 1, now: Duration) -> Int? {
        pass(now)
        let key = bucket(of: key)
        let from = max(fullAt[key] ?? elapsed, elapsed)
        let wait = from + interval * min(cost, burst) - (elapsed + interval * burst)
        guard wait <= .zero else { return Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0) }
        fullAt[key] = from + interval * cost
        return nil
    }

    /// Gives tokens back that a call took and did not need.
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
        // Each bucket that stays was used since, or is in debt: a look costs no more than the calls before it.
        nextSweep = elapsed + interval * burst
    }

    /// The key itself if it has a bucket or may get one.
    private mutating func bucket(of key: Key) -> Key? {
        guard fullAt[key] == nil, fullAt.count >= maxKeys else { return key }
        if elapsed >= nextLook {
            fullAt = fullAt.filter { $0.value > elapsed }
            // One look for each token at most, so that ever new keys cost no more than they may.
            nextLook = elapsed + interval
        }
        return fullAt.count < maxKeys ? key : nil
    }
}
