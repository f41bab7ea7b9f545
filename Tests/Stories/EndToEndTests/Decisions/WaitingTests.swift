import Testing

@Suite struct WaitingTests {
    static let nobodysId = "00000000-0000-4000-8000-000000000000"

    @Test(arguments: [
        ["approve", "--next"], ["deny", "--next"], ["approve", nobodysId], ["show", nobodysId],
        ["approve", "--next", "--wait", "1"], ["approve", nobodysId, "--wait", "1"],
    ])
    func `without a request, at once or in time, the exit status is 3`(arguments: [String]) async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let nothing = try await agent.ctl(arguments, exits: 3)
            #expect(nothing.output.isEmpty)
            #expect(!nothing.errors.isEmpty)
        }
    }

    @Test func `an approve that waits takes the request that comes`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = "AAAAAAAA-1111-4111-8111-111111111111"
            async let approved = agent.ctl("approve", id, "--wait", "60", "--json")
            try await sandbox.purchase(["acsTransId": .string(id)])
            #expect(try await approved.json["transStatus"] == "Y")
        }
    }

    @Test func `next is the oldest pending request`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let older = try await sandbox.purchase()
            let newer = try await sandbox.purchase()
            _ = try await agent.received(newer)
            #expect(try await agent.json("deny", "--next")["acsTransId"].text == older)
            #expect(try await agent.json("deny", "--next")["acsTransId"].text == newer)
            try await agent.ctl("deny", "--next", exits: 3)
        }
    }

    @Test func `a request that has expired is not decided and never answered`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            // In time for the agent to have it.
            let id = try await sandbox.purchase(["expiresIn": 15])
            try await agent.request(id, untilIts: "state", is: "expired")
            let late = try await agent.ctl("approve", id, exits: 7)
            #expect(late.errors.contains("has expired"))
            #expect(try await agent.json("show", id)["delivery"] == "none")
            let timeline = try await sandbox.timeline(id)
            #expect(timeline["status"] == "expired")
            #expect(timeline["requests"].elements.map { $0["state"] } == ["expired"])
        }
    }

    @Test func `a request that the payer left is cancelled`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            try await sandbox.cancel(id)
            try await agent.request(id, untilIts: "state", is: "cancelled")
            #expect(try await agent.ctl("approve", id, exits: 7).errors.contains("was cancelled"))
            #expect(try await sandbox.timeline(id)["status"] == "cancelled")
        }
    }

    @Test func `a purchase from the shell waits for its decision and tells the story`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
            async let purchase = scenario.run(
                "oob-issuer",
                [
                    "purchase", "--issuer", sandbox.url, "--acs-trans-id", id, "--merchant", "CoffeeHouse2 (Dæmø)",
                    "--amount", "100", "--currency", "840", "--exponent", "2", "--date", "20231017055638", "--wait",
                ])
            let approved = try await agent.json("approve", id, "--wait", "60")
            #expect(approved["amount"] == ["currency": "USD", "value": "1.00"])
            #expect(approved["purchaseDate"] == "2023-10-17T05:56:38Z")
            #expect(approved["merchantName"] == "CoffeeHouse2 (Dæmø)")
            #expect(try await purchase.status == 0)
            #expect(try await purchase.output.contains("transStatus=Y"))
        }
    }
}
