import Records

/// The wall clock stands, and no wait ends: no limit is reached, however slow the machine is.
package struct StandingClock: AgentClock {
    package var now: Int64

    package init(now: Int64 = 1_697_522_198) { self.now = now }

    package func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
}
