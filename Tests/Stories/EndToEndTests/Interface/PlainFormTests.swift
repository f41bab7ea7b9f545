import Testing

/// What people read: something is always said, and no name can do more than be read.
@Suite struct PlainFormTests {
    /// An escape sequence, a bidirectional override, a line of its own, and a zero-width space.
    static let hostile = "Evil\u{1B}[31m\u{202E}\nState: paid\u{200B}"
    static let forbidden: [Unicode.Scalar] = ["\u{1B}", "\u{202E}", "\u{200B}"]

    @Test func `every command says something, in lines that a hostile name cannot break`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            _ = try await agent.enroll(at: sandbox, name: Self.hostile)
            let id = try await sandbox.purchase(["merchantName": .string(Self.hostile), "note": "\u{9B}31m\r\u{2028}x"])
            _ = try await agent.received(id)

            for (command, lines) in [(["list"], 2), (["list", "--all"], 2), (["enrollments"], 2)] {
                let table = try await agent.ctl(command)
                #expect(table.output.split(separator: "\n").count == lines, "\(table)")
                expectHarmless(table.output)
            }
            for command in [["status"], ["show", id], ["fetch"]] {
                let answer = try await agent.ctl(command)
                #expect(!answer.output.isEmpty)
                expectHarmless(answer.output)
                #expect(!answer.output.split(separator: "\n").contains("State: paid"))
            }
            let shown = try await agent.ctl("show", id).output
            #expect(shown.contains(#"Evil\u{1B}[31m\u{202E}\u{A}State: paid\u{200B}"#))
            #expect(shown.contains("USD 1.00"))
            #expect(shown.contains(id))
            let wrong = try await agent.ctl("approve", id, "--expect-merchant", "Evil\u{1B}[0m", exits: 4)
            expectHarmless(wrong.errors)
            let decided = try await agent.ctl("approve", id)
            expectHarmless(decided.errors)
            #expect(decided.errors.contains("Evil"))
            expectHarmless(agent.log)
        }
    }

    @Test func `a list has the acsTransId and the enrollment's name, which works as its id does`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let kitchen = try await agent.enroll(at: sandbox, name: "my kitchen/2")
            let id = try await sandbox.purchase([:])
            _ = try await agent.received(id)
            let list = try await agent.ctl("list", "--enrollment", "my kitchen/2").output
            #expect(list.contains(id) && list.contains("my kitchen/2"))
            let row = try await agent.json("list", "--enrollment", "my kitchen/2").elements.first
            #expect(row?["enrollmentName"] == "my kitchen/2" && row?["enrollmentId"] == kitchen["id"])
            // A name that is taken is refused, and one that nobody chose gets a number.
            let code = try await sandbox.code([:])
            let again = ["enroll", "--issuer", sandbox.url, "--code", code, "--authn-type", "presence"]
            let refused = try await agent.ctl(again + ["--name", "my kitchen/2"], exits: 64)
            #expect(refused.errors.contains("is taken by enrollment"))
            let unenrolled = try await agent.json("unenroll", "my kitchen/2", "--local", "--force")
            #expect(unenrolled["id"] == kitchen["id"] && unenrolled["wasEnrolled"] == true)
        }
    }

    @Test func `hostile text is warned of`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let request = try await agent.received(
                try await sandbox.purchase(["merchantName": .string(Self.hostile)]))
            #expect(request["warnings"].elements.map { $0["id"] } == ["hostileText"])
            // JSON is data: there the name is what came.
            #expect(request["merchantName"].text == Self.hostile)
        }
    }

    @Test func `with nothing to show tables are empty and the messages say so`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let list = try await agent.ctl("list")
            #expect(list.output.isEmpty)
            #expect(list.errors.contains("No request is pending"))
            #expect(try await agent.ctl("status").output.contains("ready"))
        }
    }

    @Test func `a list is limited to what is decided next, and with --all to the newest, oldest first`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await sandbox.purchase()) }
            for id in ids { _ = try await agent.received(id) }
            let rows = try await agent.json("list", "--limit", "2").elements
            #expect(rows.map { $0["acsTransId"].text } == Array(ids.prefix(2)))
            let all = try await agent.json("list", "--all", "--limit", "2").elements
            #expect(all.map { $0["acsTransId"].text } == Array(ids.suffix(2)))
        }
    }

    private func expectHarmless(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = text.unicodeScalars.filter { scalar in
            Self.forbidden.contains(scalar) || scalar.properties.generalCategory == .control && scalar != "\n"
                || scalar.properties.generalCategory == .lineSeparator
        }
        #expect(found.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
    }
}
