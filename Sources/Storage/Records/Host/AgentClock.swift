import TextAndTime

/// Where the core learns what time it is, and waits.
package protocol AgentClock: Sendable {
    /// Wall clock, whole seconds since 1970-01-01 UTC.
    var now: Int64 { get }
    /// Seconds since some moment: it only grows, also if someone sets the wall clock back.
    var steady: Double { get }
    /// Seconds for which the machine has run since some moment, without the time for which it was suspended.
    ///
    /// Nobody sets it, nor does the kernel take any of it from the machine's battery-driven clock.
    var running: Double { get }
    /// Waits for at least `seconds`; throws `CancellationError` when the task is cancelled meanwhile.
    func sleep(seconds: Double) async throws
    /// Does something short once `seconds` have passed, unless that is called off before.
    func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm
}

/// A clock that tests set forward.
package protocol AdvanceableClock: AgentClock {
    /// How many seconds it is ahead of the machine's.
    var offset: Int64 { get }
    /// Sets it so far ahead of the machine's, and never back; what is due by then rings at once.
    func advance(to offset: Int64)
}

extension AgentClock {
    /// For a clock that nobody sets.
    package var steady: Double { Double(now) }

    /// For a clock of a machine that is never suspended.
    package var running: Double { steady }
}

extension Int64 {
    /// Whether this time is at most so many seconds after another, and not before it.
    ///
    /// What was noted before the clock was set back is of no use any more.
    package func isWithin(_ seconds: Int64, of other: Int64) -> Bool {
        other <= self && self.seconds(since: other) < seconds
    }
}
