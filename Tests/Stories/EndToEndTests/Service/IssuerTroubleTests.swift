import Testing

@Suite struct IssuerTroubleTests {
    @Test func `a request of an issuer that was down when the agent started arrives`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            _ = try await agent.stop()
            await sandbox.goDown()
            try await agent.start()
            try await Patience.until("the agent's complaint") {
                let status = try await agent.json("status")
                return status["state"] == "degraded" && !status["reasons"].elements.isEmpty ? () : nil
            }

            try await sandbox.comeBack()
            let id = try await sandbox.purchase()
            try await agent.ctl("approve", id, "--wait", "180")
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
            #expect(try await agent.json("status")["state"] == "ready")
        }
    }

    /// The issuer answers the same bytes alike and refuses others: a Y after a lost one is for the same bytes.
    @Test(arguments: [false, true])
    func `a decision that met two errors is repeated byte for byte until it is taken`(afterItsEffect: Bool)
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            try await sandbox.fail("decision", status: 500, times: 2, after: afterItsEffect)

            let approved = try await agent.json("approve", id, "--delivery-timeout", "60")
            #expect(approved["delivery"] == "delivered")
            #expect(approved["transStatus"] == "Y")
            let timeline = try await sandbox.ending(id)
            #expect(timeline["status"] == "authenticated")
            #expect(timeline["requests"].elements.count == 1)
            #expect(try await agent.json("status")["queued"] == 0)
        }
    }

    @Test func `a decision while the issuer is down exits 75 with its URL, and is delivered when it is back`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["threeDSRequestorAppURL": "app://back"])
            _ = try await agent.received(id)
            await sandbox.goDown()

            let queued = try await agent.ctl("approve", id, "--delivery-timeout", "1", exits: 75)
            #expect(queued.output == "app://back\n")
            #expect(try await agent.json("show", id)["delivery"] == "queued")

            try await sandbox.comeBack()
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
            try await agent.request(id, untilIts: "delivery", is: "delivered")
        }
    }

    @Test func `decisions that waited for the issuer are all taken, in the order of their counters`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            var ids: [String] = []
            for _ in 0..<4 { ids.append(try await sandbox.purchase()) }
            for id in ids { _ = try await agent.received(id) }
            await sandbox.goDown()
            for id in ids.reversed() { try await agent.ctl("approve", id, "--delivery-timeout", "0", exits: 75) }
            try await sandbox.comeBack()
            for id in ids { #expect(try await sandbox.ending(id)["status"] == "authenticated") }
            #expect(try await sandbox.authenticators().first?["signCount"] == 4)
        }
    }

    @Test func `a revoked token suspends the enrollment, and an approve exits 8`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            agent.mayLogError("no longer knows the enrollment")
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            try await sandbox.revoke(try await sandbox.authenticators().first?["id"].text ?? "")

            let status = try await Patience.until("a degraded agent") {
                let status = try await agent.json("status")
                return status["state"] == "degraded" ? status : nil
            }
            #expect(status["enrollments"].elements.map { $0["state"] } == ["suspended"])
            #expect(!status["reasons"].elements.isEmpty)

            let refused = try await agent.ctl("approve", id, "--json", exits: 8)
            #expect(try JSON(parsing: refused.errors)["error"]["code"] == 70002)
            #expect(try await agent.json("show", id)["state"] == "pending")
            #expect(try await agent.json("enrollments").elements.first?["key"]["kind"] == "store")
        }
    }
}
