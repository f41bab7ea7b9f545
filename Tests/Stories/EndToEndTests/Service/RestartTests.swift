import Testing

@Suite struct RestartTests {
    enum Ending: CaseIterable { case asked, crash }

    @Test(arguments: Ending.allCases)
    func `a pending request is still pending under its ID after a restart`(ending: Ending) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let acsTransId = try await sandbox.purchase()
            let before = try await agent.received(acsTransId)

            try await agent.end(ending)
            try await agent.start()
            let after = try await agent.json("show", before["id"].text ?? "")
            #expect(after["state"] == "pending")
            #expect(after["acsTransId"].text == acsTransId)
            #expect(after["jti"] == before["jti"])
            #expect(after["receivedAt"] == before["receivedAt"])

            try await agent.ctl("approve", acsTransId)
            #expect(try await sandbox.ending(acsTransId)["status"] == "authenticated")
            #expect(try await agent.json("list", "--all").elements.count == 1)
        }
    }

    @Test(arguments: Ending.allCases)
    func `a decision that was not delivered yet is delivered after a restart`(ending: Ending) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            await sandbox.goDown()
            try await agent.ctl("approve", id, "--delivery-timeout", "0", exits: 75)

            try await agent.end(ending)
            try await sandbox.comeBack()
            try await agent.start()
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
            try await agent.request(id, untilIts: "delivery", is: "delivered")
        }
    }

    @Test func `the counter goes on after a restart`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            for round in 1...3 {
                let id = try await sandbox.purchase()
                try await agent.ctl("approve", id, "--wait", "60")
                #expect(try await sandbox.authenticators().first?["signCount"] == .number(Double(round)))
                await agent.kill()
                try await agent.start()
            }
        }
    }

    /// A poll that the issuer holds back lasts for 50 s.
    @Test func `an agent that waits for its issuer stops long before its answer`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            _ = try await agent.received(try await sandbox.purchase())
            #expect(try await agent.stop(within: .seconds(45)) == 0)
            #expect(agent.log.contains("stopped"))
        }
    }

    @Test func `a client that waits hears of the agent's stop`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            async let waiting = agent.attempt("approve", "--next", "--wait", "600")
            #expect(try await agent.stop() == 0)
            let interrupted = try await waiting
            #expect(interrupted.status != 0)
            #expect(interrupted.output.isEmpty)
            #expect(!interrupted.errors.isEmpty)
        }
    }

    @Test func `a second agent on the same state does not start, and names the first`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let second = try await scenario.run(
                "oob-agent", ["--state-dir", agent.stateDirectory, "--socket", "\(scenario.folder)/other.sock"])
            #expect(second.status == 69)
            #expect(second.errors.contains("\(agent.pid)"))
            try await agent.ctl("status")
        }
    }

    @Test func `a second agent on the same socket does not start, and leaves it to the first`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let second = try await scenario.run(
                "oob-agent", ["--state-dir", "\(scenario.folder)/other", "--socket", agent.socket])
            #expect(second.status == 69)
            #expect(second.errors.contains(agent.socket))
            try await agent.ctl("status")
        }
    }
}

extension AgentUnderTest {
    fileprivate func end(_ ending: RestartTests.Ending) async throws {
        switch ending {
        case .asked: #expect(try await stop() == 0)
        case .crash: await kill()
        }
    }
}
