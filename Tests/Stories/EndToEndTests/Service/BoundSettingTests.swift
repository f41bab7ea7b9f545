import Testing

@Suite struct BoundSettingTests {
    private static let ranges: [(name: String, least: Int, limit: Int)] = [
        ("max-undecided", 1, 100_000), ("max-enrollments", 1, 10_000_000),
        ("max-stored-bytes", 1_048_576, 1_125_899_906_842_624), ("max-answer-bytes", 33_554_432, 1_073_741_824),
        ("poll-interval-with-push", 1, 3_600),
        ("events-kept", 1_000, 10_000_000), ("audit-retention", 30, 3_660), ("retention", 2, 3_660),
    ]

    @Test func `a bound is taken up to its ends, and one past them is refused with the range`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            for ends in [Self.ranges.map { ($0.name, $0.least) }, Self.ranges.map { ($0.name, $0.limit) }] {
                let flags = ends.flatMap { ["--\($0)", "\($1)"] }
                let checked = try await agent.startAndExit(flags + ["--check-config"])
                #expect(checked.status == 0, "\(checked)")
            }
            for (name, least, limit) in Self.ranges {
                for past in [least - 1, limit + 1] {
                    let refused = try await agent.startAndExit(["--check-config", "--\(name)", "\(past)"])
                    #expect(refused.status == 64, "\(refused)")
                    #expect(refused.errors.contains("--\(name): must be a whole number from \(least) to \(limit)"))
                }
            }
        }
    }

    @Test func `an agent has as many enrollments as are set`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            _ = try await agent.stop()
            try await agent.start("--max-enrollments", "1")
            let code = try await sandbox.code()
            let refused = try await agent.attempt("enroll", "--issuer", sandbox.url, "--code", code)
            #expect(refused.errors.contains("the limit is 1 (setting max-enrollments)"), "\(refused)")
        }
    }
}
