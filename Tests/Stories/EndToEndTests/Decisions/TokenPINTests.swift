import Foundation
import SoftKeys
import Testing

/// PINs of keys that were there already; those of the agent's own keys: `pin.t`, and at a terminal: `test_pin.py`.
@Suite struct TokenPINTests {
    private func file(_ pin: String, in scenario: Scenario) throws -> String {
        let path = "\(scenario.folder)/pin-\(UUID().uuidString)"
        let permissions = [FileAttributeKey.posixPermissions: 0o600]
        try #require(FileManager.default.createFile(atPath: path, contents: Data(pin.utf8), attributes: permissions))
        return path
    }

    @Test func `a token's own PIN approves, and a wrong one counts with the agent as well`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            let token = try SoftToken(in: scenario.folder + "/hsm")
            try token.makeKey("card")
            try await agent.start("--pkcs11-module", SoftToken.modulePath, environment: token.environment)
            let right = try file(SoftToken.pin + "\n", in: scenario)
            let wrong = try file("13572468", in: scenario)
            let code = try await sandbox.code(["userVerification": "required"])
            let enroll = ["enroll", "--issuer", sandbox.url, "--code", code, "--key-uri", token.uri("card")]
            try await agent.ctl(enroll + ["--pin-file", wrong], exits: 5)
            let enrolled = try await agent.json(enroll + ["--pin-file", right])
            #expect(enrolled["authnType"] == "pin" && enrolled["key"] == ["kind": "pkcs11", "exportable": false])
            let id = try await sandbox.purchase(["userVerification": "required"])
            try await agent.ctl("approve", id, "--wait", "60", "--pin-file", wrong, exits: 5)
            #expect(try await agent.json("enrollments").elements.map { $0["pinTriesLeft"] } == [4])
            try await agent.ctl("approve", id, exits: 5)
            try await agent.ctl("approve", id, "--pin-file", right)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
            #expect(try await agent.json("enrollments").elements.map { $0["pinTriesLeft"] } == [5])
            let change = ["pin", "change", enrolled["id"].text ?? "", "--pin-file", right, "--new-pin-file", right]
            #expect(try await agent.ctl(change, exits: 64).errors.contains("the tools of its token, TPM or file"))
        }
    }

    @Test func `wrong PINs at enroll block a token, whatever key they are tried for, also after a restart`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            let token = try SoftToken(in: scenario.folder + "/hsm")
            try token.makeKey("card")
            let module = ["--pkcs11-module", SoftToken.modulePath]
            try await agent.start(module[0], module[1], environment: token.environment)
            let (right, wrong) = (try file(SoftToken.pin, in: scenario), try file("13572468", in: scenario))
            let enroll = ["enroll", "--issuer", sandbox.url, "--code", try await sandbox.code(), "--key-uri"]
            for (number, exit) in [5, 5, 5, 5, 6].enumerated() {
                let guess = enroll + [token.uri(number == 0 ? "card" : "none-\(number)"), "--pin-file", wrong]
                try await agent.ctl(guess, exits: Int32(exit))
            }
            try await agent.ctl(enroll + [token.uri("card"), "--pin-file", right], exits: 6)
            _ = try await agent.stop()
            try await agent.start(module[0], module[1], environment: token.environment)
            try await agent.ctl(enroll + [token.uri("card"), "--pin-file", right], exits: 6)
        }
    }

    @Test func `each key of a token can have an enrollment of its own, and no second one`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            let token = try SoftToken(in: scenario.folder + "/hsm")
            for (name, id) in [("card", "01"), ("other", "02")] { try token.makeKey(name, id: id) }
            try await agent.start("--pkcs11-module", SoftToken.modulePath, environment: token.environment)
            let right = try file(SoftToken.pin, in: scenario)
            func enroll(_ key: String) async throws -> [String] {
                ["enroll", "--issuer", sandbox.url, "--code", try await sandbox.code(), "--key-uri", token.uri(key)]
                    + ["--pin-file", right]
            }
            let first = try await agent.json(enroll("card"))
            let second = try await agent.json(enroll("other"))
            #expect(first["id"] != second["id"])
            let twice = try await agent.ctl(enroll("other"), exits: 1)
            #expect(twice.errors.contains(second["id"].text ?? "no id"))
        }
    }
}
