package import Authenticator
import FoundationEssentials
import Glibc
import Keys
package import ThreeDS

/// The machine's clock.
package struct SystemClock: AgentClock {
    private static let start = ContinuousClock.now

    package init() {}

    package var now: Int64 { Int64(Date().timeIntervalSince1970.rounded(.down)) }

    package var steady: Double { (ContinuousClock.now - Self.start) / .seconds(1) }

    /// More seconds than this also count while the machine is suspended.
    private static let long: Double = 300

    package func sleep(seconds: Double) async throws {
        if seconds > Self.long {
            try await Task.sleep(for: .seconds(seconds))
        } else {
            try await Alarms.shared.sleep(seconds: seconds)
        }
    }

    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        Alarms.shared.set(after: seconds, action)
    }
}

/// OpenSSL's random numbers.
package struct SystemEntropy: Entropy {
    package init() {}

    package func bytes(_ count: Int) throws -> [UInt8] { try SecureRandom.bytes(count) }
}

extension LocalTime {
    /// The zone that this process runs in (tzset(3)).
    package static let ofThisProcess = LocalTime { seconds in
        var instant = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&instant, &parts) != nil else { return (0, "UTC") }
        let name = unsafe parts.tm_zone.map { unsafe String(cString: $0) }
        return unsafe (parts.tm_gmtoff, name ?? "")
    }
}
