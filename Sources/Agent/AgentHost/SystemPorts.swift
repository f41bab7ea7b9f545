import FoundationEssentials
import Glibc
import Keys
package import Records
package import TextAndTime

/// The machine's clock.
package struct SystemClock: AgentClock {
    private static let start = ContinuousClock.now
    private static let runningStart = SuspendingClock.now

    private let alarms: Alarms

    package init() { self.init(.shared) }

    init(_ alarms: Alarms) { self.alarms = alarms }

    package var now: Int64 { Int64(Date().timeIntervalSince1970.rounded(.down)) }

    package var steady: Double { (ContinuousClock.now - Self.start) / .seconds(1) }

    package var running: Double { (SuspendingClock.now - Self.runningStart) / .seconds(1) }

    /// The most seconds between two checks of the clock in a longer sleep.
    ///
    /// While the machine is suspended, the alarms' clock stops and this clock does not.
    private static let look: Double = 300

    package func sleep(seconds: Double) async throws {
        let end = steady + seconds
        repeat {
            try await alarms.sleep(seconds: min(end - steady, Self.look))
        } while steady < end
    }

    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        alarms.set(after: seconds, action)
    }
}

/// OpenSSL's random numbers.
package struct SystemEntropy: Entropy {
    package init() {}

    package func bytes(_ count: Int) throws -> [UInt8] { try SecureRandom.bytes(count) }
}

extension LocalTime {
    /// The time zone of this process (tzset(3)).
    package static let ofThisProcess = LocalTime { seconds in
        var instant = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&instant, &parts) != nil else { return (0, "UTC") }
        let name = unsafe parts.tm_zone.map { unsafe String(cString: $0) }
        return unsafe (parts.tm_gmtoff, name ?? "")
    }
}
