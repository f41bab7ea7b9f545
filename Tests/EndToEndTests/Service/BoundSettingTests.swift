import Testing

@Suite struct BoundSettingTests {
    private static let ranges: [(name: String, least: Int, limit: Int)] = [
        ("max-undecided", 1, 100_000), ("max-refused", 1, 10_000), ("max-messages", 100, 1_000_000),
        ("max-cancellations", 1, 100_000),
        ("max-request-octets", 1_024, 16_384), ("max-held", 1, 1_000), ("max-held-in-all", 1, 100_000),
        ("log-pause", 60, 86_400), ("max-answer-octets", 16_384, 1_048_576),
        ("max-list-octets", 16_384, 2_097_152), ("max-list-requests", 1, 100), ("control-connections", 2, 4_096),
        ("control-patience", 1, 600), ("control-header-octets", 1_024, 65_536),
        ("control-body-octets", 1_024, 65_536), ("events-kept", 1_000, 10_000_000),
        ("audit-retention", 30, 3_660), ("retention", 2, 3_660),
    ]

    @Test func `a bound is taken up to its ends, and one past them is refused with the range`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            for ends in [Self.ranges.map { ($0.name, $0.least) }, Self.ranges.map { ($0.name, $0.limit) }] {
                let flags = ends.flatMap { ["--\($0)", "\($1)"] }
                let checked = try await agent.startInVain(flags + ["--check-config"])
                #expect(checked.status == 0, "\(checked)")
            }
            for (name, least, limit) in Self.ranges {
                for past in [least - 1, limit + 1] {
                    let refused = try await agent.startInVain(["--check-config", "--\(name)", "\(past)"])
                    #expect(refused.status == 64, "\(refused)")
                    #expect(refused.errors.contains("--\(name): must be a whole number from \(least) to \(limit)"))
                }
            }
        }
    }
}
