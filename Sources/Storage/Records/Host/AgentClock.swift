import TextAndTime

/// The core's clocks and alarms.
package protocol AgentClock: Sendable {
    /// Wall clock, whole seconds since 1970-01-01 UTC.
    var now: Int64 { get }
    /// Seconds since some moment; they only grow, even if the wall clock is set back.
    var steady: Double { get }
    /// Seconds for which the machine has run since some moment, without the time for which it was suspended.
    ///
    /// No program sets this clock, and the kernel does not adjust it from the battery-driven clock.
    var running: Double { get }
    /// Waits for at least `seconds`; throws `CancellationError` if the task is cancelled meanwhile.
    func sleep(seconds: Double) async throws
    /// Runs a short action once `seconds` have passed, unless the alarm is cancelled before.
    func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm
}

/// A clock that tests can advance.
package protocol AdvanceableClock: AgentClock {
    /// Seconds by which it is ahead of the machine's clock.
    var offset: Int64 { get }
    /// Sets the offset, which never decreases; alarms that are due by then fire at once.
    func advance(to offset: Int64)
}

extension AgentClock {
    /// The default for a clock that is never set.
    package var steady: Double { Double(now) }

    /// The default for a machine that is never suspended.
    package var running: Double { steady }
}

extension Int64 {
    /// Whether this time is less than `seconds` after `other`, and not before it.
    ///
    /// A time that was recorded before the clock was set back is useless.
    package func isWithin(_ seconds: Int64, of other: Int64) -> Bool {
        other <= self && self.seconds(since: other) < seconds
    }
}
