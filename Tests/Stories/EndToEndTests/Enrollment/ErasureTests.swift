import Foundation
import Testing

/// What `unenroll --erase` leaves in the state directory, and what it does not.
@Suite struct ErasureTests {
    private func isIn(_ agent: AgentUnderTest, _ text: String) -> Bool {
        agent.stateFiles.contains { path in
            (FileManager.default.contents(atPath: path) ?? Data()).range(of: Data(text.utf8)) != nil
        }
    }

    @Test
    func `no file ever holds the texts of an enrollment in clear, and what was erased leaves its ids and the journal`()
        async throws
    {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let id = try await agent.enroll(at: sandbox, name: "ERASED card")["id"].text ?? ""
            let url = "https://merchant.example/return?ERASED=1"
            let purchases = [
                try await sandbox.purchase(["merchantName": "ERASED shop", "threeDSRequestorAppURL": .string(url)]),
                try await sandbox.purchase(["merchantName": "ERASED kiosk"]),
            ]
            try await agent.ctl("approve", purchases[0], "--wait", "60")
            let pending = try await agent.received(purchases[1])
            #expect(!isIn(agent, "ERASED"))
            #expect(
                try await agent.json("list", "--all").elements.map { $0["merchantName"] } == [
                    "ERASED shop", "ERASED kiosk",
                ])

            let erased = try await agent.json("unenroll", id, "--erase")
            #expect(erased == ["id": .string(id), "unenrolled": true, "wasEnrolled": true, "erased": true])
            #expect(!isIn(agent, "ERASED"))
            #expect(isIn(agent, purchases[0]) && isIn(agent, pending["jti"].text ?? "?"))
            let rows = try await agent.json("list", "--all").elements
            #expect(rows.map { $0["state"] } == ["approved", "cancelled"])
            #expect(rows.map { $0["acsTransId"].text } == purchases)
            #expect(rows.allSatisfy { $0["merchantName"] == .null && $0["transaction"] == .null })
            try await agent.ctl("audit", "verify")
            #expect(try await agent.stop() == 0)
            #expect(!isIn(agent, "ERASED"))
        }
    }

    @Test func `one that ended before is erased, twice is once, and nothing of it comes into a backup`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let id = try await agent.enroll(at: sandbox, name: "ERASED card")["id"].text ?? ""
            try await agent.ctl("approve", sandbox.purchase(["merchantName": "ERASED shop"]), "--wait", "60")
            #expect(try await agent.json("unenroll", id)["erased"] == .null)
            for _ in 1...2 {
                let erased = try await agent.json("unenroll", id, "--erase")
                #expect(erased == ["id": .string(id), "unenrolled": true, "wasEnrolled": false, "erased": true])
            }
            #expect(!isIn(agent, "ERASED"))
            let file = "\(scenario.folder)/backup.db"
            try await agent.ctl("backup", file)
            #expect((FileManager.default.contents(atPath: file) ?? Data()).range(of: Data("ERASED".utf8)) == nil)
        }
    }
}
