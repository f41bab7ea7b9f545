/// So many in a minute, as many at once: filled by the clock, emptied by one for each that is taken.
struct TokenBucket {
    private static let minute: Int64 = 60

    private let aMinute: Int64
    /// In minutes' parts: `aMinute` a second is a whole one after 60.
    private var level: Int64
    private var filledAt: Int64

    /// Full at `now`, in seconds since 1970.
    init(aMinute: Int64, now: Int64) {
        self.aMinute = aMinute
        level = aMinute * Self.minute
        filledAt = now
    }

    /// Takes one.
    ///
    /// - Returns: nil if it was there; else after how many seconds it is.
    mutating func take(now: Int64) -> Int64? {
        fill(now)
        guard level < Self.minute else {
            level -= Self.minute
            return nil
        }
        return (Self.minute - level + aMinute - 1) / aMinute
    }

    /// A clock that was set back fills nothing, and takes nothing away.
    private mutating func fill(_ now: Int64) {
        let seconds = min(max(now - filledAt, 0), Self.minute)
        level = min(level + seconds * aMinute, aMinute * Self.minute)
        filledAt = now
    }
}
