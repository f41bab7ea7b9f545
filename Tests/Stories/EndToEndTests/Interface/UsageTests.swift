import Testing

@Suite struct UsageTests {
    @Test(arguments: [
        ["oobctl", "nosuchverb"], ["oobctl", "status", "--nosuchflag"], ["oobctl", "approve"],
        ["oobctl", "approve", "--next", "abc"], ["oobctl", "approve", "next"], ["oobctl", "approve", "a b"],
        ["oobctl", "approve", "x", "--wait", "-1"], ["oobctl", "approve", "x", "--wait", "3601"],
        ["oobctl", "approve", "x", "--wait", "soon"], ["oobctl", "approve", "x", "--delivery-timeout", "601"],
        ["oobctl", "approve", "x", "--reason", "userDenied"], ["oobctl", "deny", "x", "--reason", "other"],
        ["oobctl", "approve", "x", "--expect-acs-trans-id", "1"], ["oobctl", "list", "--limit", "0"],
        ["oobctl", "list", "--limit", "1001"], ["oobctl", "show"], ["oobctl", "unenroll"],
        ["oobctl", "enroll"], ["oobctl", "enroll", "--issuer", "https://issuer.example"],
        ["oobctl", "enroll", "oob-enroll:?issuer=https%3A%2F%2Fissuer.example"],
        ["oobctl", "enroll", "https://issuer.example"],
        ["oobctl", "status", "--socket", String(repeating: "/socket", count: 16)],
        ["oob-agent", "--nosuchflag"], ["oob-agent", "extra"], ["oob-agent", "--log-level", "loud"],
        ["oob-agent", "--log-format", "xml"], ["oob-agent", "--exponent-policy", "ignore"],
        ["oob-agent", "--max-undecided", "0"], ["oob-agent", "--max-undecided", "many"],
        ["oob-issuer", "serve", "--nosuchflag"], ["oob-issuer", "serve", "--listen", "8080"],
        ["oob-issuer", "serve", "--listen", "localhost:65536"], ["oob-issuer", "serve", "--listen", "0.0.0.0:0"],
        ["oob-issuer", "serve", "--tls-cert", "only.pem"], ["oob-issuer", "purchase"],
        ["oob-issuer", "code", "--issuer", "not a URL"],
    ])
    func `wrong usage exits 64 and says what is wrong`(words: [String]) async throws {
        try await Scenario.run { scenario in
            let wrong = try await scenario.run(words[0], Array(words.dropFirst()))
            #expect(wrong.status == 64, "\(wrong)")
            #expect(wrong.output.isEmpty)
            #expect(!wrong.errors.isEmpty)
        }
    }

    @Test func `a verb that there is not is named, whatever stands after it`() async throws {
        try await Scenario.run { scenario in
            let wrong = try await scenario.run("oobctl", ["aprove", "x", "--json"])
            #expect(wrong.status == 64)
            let error = try JSON(parsing: wrong.errors)["error"]
            #expect(error["code"] == 60002)
            #expect(error["message"].text?.contains("no command aprove") == true)
        }
    }

    @Test(arguments: ["oobctl", "oob-agent", "oob-issuer", "oob-conform", "oob-inbox"])
    func `help is no error`(program: String) async throws {
        try await Scenario.run { scenario in
            let help = try await scenario.run(program, ["--help"])
            #expect(help.status == 0)
            #expect(help.output.contains("USAGE: \(program)"))
        }
    }

    @Test func `a sandbox that is not there is said to be unreachable`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            await sandbox.goDown()
            let purchase = ["purchase", "--amount", "1", "--currency", "840", "--exponent", "2", "--merchant", "m"]
            for arguments in [["code"], purchase] {
                let failed = try await scenario.run("oob-issuer", arguments + ["--issuer", sandbox.url])
                #expect(failed.status == 69, "\(failed)")
                #expect(failed.errors.contains(sandbox.url))
            }
        }
    }

    @Test func `a purchase that breaks a rule is wrong usage, and the flag is named`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, _) = try await scenario.enrolled()
            for (member, value) in [
                ("--amount", "1.00"), ("--currency", "999"), ("--exponent", "10"), ("--date", "20230230000000"),
                ("--app-url", "javascript:alert(1)"), ("--acs-trans-id", "1"),
            ] {
                var flags = ["--amount": "1", "--currency": "840", "--exponent": "2", "--merchant": "m"]
                flags[member] = value
                let refused = try await scenario.run(
                    "oob-issuer", ["purchase", "--issuer", sandbox.url] + flags.flatMap { [$0.key, $0.value] })
                #expect(refused.status == 64, "\(refused)")
                #expect(refused.output.isEmpty)
                #expect(refused.errors.contains("Error: \(member)"), "\(refused)")
            }
        }
    }
}
