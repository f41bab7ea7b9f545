package import Records

/// The machine's clock, set ahead by a test.
///
/// The time for which the machine is suspended does not count in a sleep.
package final class TestClock: AdvanceableClock {
    private let machine = SystemClock()
    private let alarms = Alarms()

    package init() {}

    package var offset: Int64 { alarms.ahead }

    package var now: Int64 { machine.now + offset }

    package var steady: Double { machine.steady + Double(offset) }

    package var running: Double { machine.running + Double(offset) }

    package func sleep(seconds: Double) async throws { try await alarms.sleep(seconds: seconds) }

    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        alarms.set(after: seconds, action)
    }

    package func advance(to offset: Int64) { alarms.setAhead(to: offset) }
}
