import Testing

/// What attackers, thieves and greedy neighbours get.
@Suite struct SecurityScripts {
    @Test func `a thief gets what the threat model says, and nothing more`() async throws {
        try await OutsideScript.run("test_threats.py")
    }

    @Test func `the doctor finds what is weak, and a run leaves no secret behind`() async throws {
        try await OutsideScript.run("test_hygiene.py")
    }

    @Test func `a greedy issuer fills neither the agent's memory nor its descriptors`() async throws {
        try await OutsideScript.run("test_issuer_shares.py")
    }

    @Test func `a greedy user or sender keeps nobody else from using the agent`() async throws {
        try await OutsideScript.run("test_fairness.py")
    }

    @Test func `each bound is part of a sum, and the sums that nothing else reaches hold`() async throws {
        try await OutsideScript.run("test_sums.py")
    }
}
