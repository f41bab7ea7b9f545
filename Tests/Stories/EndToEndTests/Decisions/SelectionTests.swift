import Testing

@Suite struct SelectionTests {
    @Test func `a request is found by its ID, its jti, its acsTransId, and a unique prefix of one`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let acsTransId = try await sandbox.purchase()
            let request = try await agent.received(acsTransId)
            for name in ["id", "jti", "acsTransId"] {
                let whole = request[name].text ?? ""
                #expect(try await agent.json("show", whole)["id"] == request["id"])
                #expect(try await agent.json("show", String(whole.dropLast()))["id"] == request["id"])
            }
            #expect(try await agent.json("show", acsTransId.uppercased())["id"] == request["id"])
        }
    }

    @Test func `a prefix that stands for several decides none and names them`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let ids = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"]
            for id in ids { try await sandbox.purchase(["acsTransId": .string(id)]) }
            var requests: [JSON] = []
            for id in ids { requests.append(try await agent.received(id)) }

            let ambiguous = try await agent.ctl("approve", "aaaaaaaa-0000", exits: 64)
            for request in requests { #expect(ambiguous.errors.contains(request["id"].text ?? "none")) }
            #expect(try await agent.json("list").elements.count == 2)
            try await agent.ctl("approve", ids[1])
            #expect(try await agent.json("list").elements.map { $0["acsTransId"].text } == [ids[0]])
        }
    }

    @Test func `the filter by enrollment shows and decides only that enrollment's requests`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let mine = try await agent.enroll(at: sandbox, name: "mine")
            let hers = try await agent.enroll(at: sandbox, name: "hers")
            let older = try await sandbox.purchase(["authenticatorId": mine["authenticatorId"]])
            let newer = try await sandbox.purchase(["authenticatorId": hers["authenticatorId"]])
            _ = try await agent.received(older)
            _ = try await agent.received(newer)

            let filter = hers["id"].text ?? ""
            let rows = try await agent.json("list", "--enrollment", filter).elements
            #expect(rows.map { $0["acsTransId"].text } == [newer])
            try await agent.ctl("show", older, "--enrollment", filter, exits: 3)
            #expect(try await agent.json("approve", "--next", "--enrollment", filter)["acsTransId"].text == newer)
            try await agent.ctl("approve", "--next", "--enrollment", filter, exits: 3)
            try await agent.ctl("approve", "--next", "--enrollment", "ffffffff", exits: 3)
            #expect(try await agent.json("show", older)["state"] == "pending")
        }
    }

    @Test func `one agent serves two issuers, and one that is down does not hold the other`() async throws {
        try await Scenario.run { scenario in
            let (down, agent) = try await scenario.enrolled()
            let up = try await scenario.sandbox()
            _ = try await agent.enroll(at: up)
            await down.goDown()
            let id = try await up.purchase()
            #expect(try await agent.json("approve", id, "--wait", "60")["issuer"].text == up.url)
            #expect(try await up.ending(id)["status"] == "authenticated")
        }
    }
}
