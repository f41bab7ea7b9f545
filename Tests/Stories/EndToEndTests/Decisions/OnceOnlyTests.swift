import Testing

@Suite struct OnceOnlyTests {
    @Test(arguments: [false, true])
    func `the same request ten times is one row and one decision`(underNewNames: Bool) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["repeat": 10, "newJti": .bool(underNewNames)])
            let first = try await agent.received(id)
            try await agent.ctl("fetch")
            #expect(try await agent.json("list", "--all").elements.map { $0["id"] } == [first["id"]])

            try await agent.ctl("approve", id)
            let timeline = try await sandbox.ending(id)
            #expect(timeline["status"] == "authenticated")
            let decisions = timeline["requests"].elements.filter { $0["decision"] != .null }
            #expect(decisions.count == 1)
            try await agent.ctl("fetch")
            #expect(try await agent.json("list", "--all").elements.count == 1)
            #expect(try await sandbox.authenticators().first?["signCount"] == 1)
        }
    }

    @Test func `a decided transaction that is asked for again is answered as a duplicate, not asked again`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let purchase: JSON = [
                "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "purchaseDate": "20231017055638",
                "newJti": true,
            ]
            let id = try await sandbox.purchase(purchase)
            try await agent.ctl("approve", id, "--wait", "60")
            try await sandbox.purchase(purchase)

            let timeline = try await Patience.until("the answer to the second") {
                let timeline = try await sandbox.timeline(id)
                return timeline["requests"].elements.allSatisfy { $0["decision"] != .null } ? timeline : nil
            }
            let decisions = timeline["requests"].elements.map { $0["decision"] }
            #expect(decisions.map { $0["decision"] } == ["approve", "deny"])
            #expect(decisions.last?["reason"] == "duplicate")
            #expect(timeline["status"] == "authenticated")
            #expect(try await agent.json("list") == [])
        }
    }

    @Test func `another amount under the same acsTransId is refused, and the first one carries the warning`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
            let date: JSON = "20231017055638"
            try await sandbox.purchase(["acsTransId": .string(id), "purchaseDate": date, "purchaseAmount": "100"])
            let first = try await agent.received(id)
            #expect(first["warnings"] == [])
            try await sandbox.purchase(
                ["acsTransId": .string(id), "purchaseDate": date, "purchaseAmount": "90000", "force": true])

            let conflict = try await Patience.until("the refusal") {
                let others = try await sandbox.timeline(id)["others"].elements
                return others.first { $0["status"] != "pending" }
            }
            #expect(conflict["status"] == "notAuthenticated")
            #expect(conflict["decision"]["reason"] == "invalidRequest")

            let rows = try await agent.json("list", "--all").elements
            #expect(rows.map { $0["state"] } == ["pending", "refused"])
            #expect(rows.map { $0["reason"] } == [.null, "invalidRequest"])
            #expect(rows.last?["refusal"] == "conflict")
            #expect(rows.first?["warnings"].elements.map { $0["id"] } == ["conflict"])
            #expect(rows.first?["warnings"].elements.map { $0["severity"] } == ["high"])

            let approved = try await agent.json("approve", id, "--expect-amount", "USD 1.00")
            #expect(approved["id"] == first["id"])
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `a request that needs what the agent has not is refused by policy and never shown as pending`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["userVerification": "required"])
            let timeline = try await sandbox.ending(id)
            #expect(timeline["status"] == "notAuthenticated")
            #expect(timeline["decision"]["reason"] == "policy")
            #expect(try await agent.json("list") == [])
            #expect(try await agent.ctl("approve", id, exits: 7).errors.contains("was refused"))
        }
    }

    @Test(arguments: ["refuse", "warn"])
    func `an exponent that is not ISO 4217's is refused or warned of, as the policy says`(policy: String)
        async throws
    {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start("--exponent-policy", policy)
            _ = try await agent.enroll(at: sandbox)
            // ISK has no decimals.
            let id = try await sandbox.purchase(
                ["purchaseCurrency": "352", "purchaseExponent": "2", "purchaseAmount": "12345"])
            let request = try await agent.received(id)
            if policy == "warn" {
                #expect(request["state"] == "pending")
                #expect(request["amount"] == ["currency": "ISK", "value": "123.45"])
                #expect(request["warnings"].elements.map { $0["id"] } == ["exponentMismatch"])
            } else {
                #expect(request["state"] == "refused")
                #expect(try await sandbox.ending(id)["decision"]["reason"] == "policy")
            }
        }
    }
}
