import Testing

@Suite struct ApproveAndDenyTests {
    static let returnURL = "https://merchant.example/return?transID=%7B2f37539c%7D&x=%C3%B8"

    @Test func `an approval ends with Y and prints the return URL and nothing else`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["threeDSRequestorAppURL": .string(Self.returnURL)])

            let approved = try await agent.ctl("approve", id, "--wait", "60")
            #expect(approved.output == Self.returnURL + "\n")

            let timeline = try await sandbox.ending(id)
            #expect(timeline["status"] == "authenticated")
            #expect(timeline["merchant"]["liabilityShifted"] == true)
            #expect(timeline["merchant"]["liabilityShiftPossible"] == true)
            #expect(timeline["messages"].elements.last?["messageType"] == "CRes")
            #expect(timeline["messages"].elements.last?["transStatus"] == "Y")
            let results = Set(timeline["verdict"].elements.map { $0["result"].text })
            #expect(results == ["passed", "notRequired"])
        }
    }

    @Test(arguments: ["userDenied", "suspectedFraud"])
    func `a denial ends with N, tells its reason, and prints the return URL`(reason: String) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["threeDSRequestorAppURL": .string(Self.returnURL)])

            let denied = try await agent.ctl("deny", id, "--wait", "60", "--reason", reason)
            #expect(denied.output == Self.returnURL + "\n")

            let timeline = try await sandbox.ending(id)
            #expect(timeline["status"] == "notAuthenticated")
            #expect(timeline["decision"]["reason"].text == reason)
            #expect(timeline["messages"].elements.last?["transStatus"] == "N")
            #expect(timeline["merchant"]["liabilityShifted"] == false)
        }
    }

    @Test func `a request without a return URL prints none and says so`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()

            let approved = try await agent.ctl("approve", id, "--wait", "60")
            #expect(approved.output.isEmpty)
            #expect(approved.errors.contains("no return URL"))
        }
    }

    @Test func `a decided request is decided once, and a second try says what was decided`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let approved = try await sandbox.purchase()
            let denied = try await sandbox.purchase()
            try await agent.ctl("approve", approved, "--wait", "60")
            try await agent.ctl("deny", denied, "--wait", "60")

            for verb in ["approve", "deny"] {
                let again = try await agent.ctl(verb, approved, exits: 7)
                #expect(again.errors.contains("was approved already"))
                #expect(again.output.isEmpty)
                #expect(try await agent.ctl(verb, denied, exits: 7).errors.contains("was denied already"))
            }
        }
    }

    @Test func `of two clients that decide at once one wins, and the issuer hears one decision`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(["threeDSRequestorAppURL": .string(Self.returnURL)])
            _ = try await agent.received(id)

            async let first = agent.attempt("approve", id)
            async let second = agent.attempt("approve", id)
            let both = try await [first, second]

            #expect(both.map(\.status).sorted() == [0, 7])
            #expect(both.filter { $0.status == 7 }.allSatisfy { $0.errors.contains("was approved already") })
            #expect(both.map(\.output).sorted() == ["", Self.returnURL + "\n"])
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `several IDs print a URL a line in their order, and exit with the first status that is not 0`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let first = try await sandbox.purchase(["threeDSRequestorAppURL": "app-one://back"])
            let second = try await sandbox.purchase(["threeDSRequestorAppURL": "app-two://back"])
            _ = try await agent.received(first)
            _ = try await agent.received(second)

            let unknown = "00000000-0000-4000-8000-000000000000"
            let several = try await agent.ctl("approve", second, unknown, first, second, exits: 3)
            #expect(several.output == "app-two://back\napp-one://back\n")
            #expect(several.errors.contains(unknown))
        }
    }

    @Test(arguments: [("presence", UInt8(0x01)), ("test", 0x05)])
    func `only a test authenticator claims that the user was verified`(authnType: String, flags: UInt8) async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            _ = try await agent.enroll(at: sandbox, authnType: authnType)
            let id = try await sandbox.purchase()

            try await agent.ctl("approve", id, "--wait", "60")
            let response = try await sandbox.ending(id)["credential"]["response"]
            // WebAuthn §6.1: the flags follow the 32 bytes of rpIdHash; 0x01 is UP, 0x04 is UV.
            #expect(response["authenticatorData"].bytes?.dropFirst(32).first == flags)
        }
    }
}
