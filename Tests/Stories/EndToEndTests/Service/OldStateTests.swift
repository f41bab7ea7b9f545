import Foundation
import Testing

@Suite struct OldStateTests {
    @Test func `a restored copy of the state goes above the issuer's signCount, says so, and approves`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            try await approve(1, at: sandbox, by: agent)
            #expect(try await agent.stop() == 0)
            let copy = "\(scenario.folder)/copy"
            try FileManager.default.copyItem(atPath: agent.stateDirectory, toPath: copy)
            try await agent.start()
            try await approve(2, at: sandbox, by: agent)
            #expect(try await agent.stop() == 0)

            try FileManager.default.removeItem(atPath: agent.stateDirectory)
            try FileManager.default.moveItem(atPath: copy, toPath: agent.stateDirectory)
            agent.mayLogError("it is an old copy")
            try await agent.start()
            try await approve(1, at: sandbox, by: agent)
            #expect(try await sandbox.authenticators().first?["signCount"] == .number(4))
            let warnings = try await agent.json("status")["warnings"].elements
            #expect(warnings.contains { $0["id"] == "signCountRaised" && $0["severity"] == "high" })
        }
    }

    @Test func `an enrollment that is cut off by a kill is finished after a restart, once here and at the issuer`()
        async throws
    {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            // The issuer takes the registration, and its answer is lost each time.
            try await sandbox.fail("enroll", status: 500, times: 1_000, after: true)
            let code = try await sandbox.code()
            async let cutOff = agent.attempt("enroll", "--issuer", sandbox.url, "--code", code)
            try await Patience.until("the registration at the issuer") {
                try await sandbox.authenticators().isEmpty ? nil : ()
            }
            await agent.kill()
            #expect(try await cutOff.status != 0)

            // Planned failures are forgotten by a restart, registrations are not.
            await sandbox.goDown()
            try await sandbox.comeBack()
            try await agent.start()
            try await Patience.until("an active enrollment") {
                try await agent.json("enrollments").elements.contains { $0["state"] == "active" } ? () : nil
            }
            #expect(try await agent.json("enrollments").elements.count == 1)
            #expect(try await sandbox.authenticators().count == 1)
            try await approve(1, at: sandbox, by: agent)
        }
    }

    private func approve(_ times: Int, at sandbox: Sandbox, by agent: AgentUnderTest) async throws {
        for _ in 0..<times {
            let id = try await sandbox.purchase()
            try await agent.ctl("approve", id, "--wait", "60")
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }
}
