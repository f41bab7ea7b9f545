import Foundation
import Testing

/// The agent's secret is changed, by a start with both.
@Suite struct ChangedSecretTests {
    private static let old = Array("0123456789abcdef0123456789abcdef".utf8)

    private func approve(_ sandbox: Sandbox, by agent: AgentUnderTest) async throws {
        let id = try await sandbox.purchase()
        try await agent.ctl("approve", id, "--wait", "60")
        #expect(try await sandbox.ending(id)["status"] == "authenticated")
    }

    private func log(of agent: AgentUnderTest, has words: String) async throws {
        _ = try await Patience.until("\(words) in the log") { agent.log.contains(words) ? words : nil }
    }

    @Test func `after a start with both secrets the new one is enough, and the old one opens nothing`() async throws {
        try await Scenario.run { scenario in
            let old = try scenario.privateFile("old", Self.old)
            let new = try scenario.privateFile("new", Self.old.reversed())
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start("--secret-file", old)
            _ = try await agent.enroll(at: sandbox)
            _ = try await agent.stop()

            let early = try await agent.startAndExit(["--secret-file", new])
            #expect(early.status == 78, "\(early)")
            try await agent.start("--secret-file", new, "--previous-secret-file", old)
            try await approve(sandbox, by: agent)
            try await log(of: agent, has: "the secret was changed: remove the previous one")
            _ = try await agent.stop()

            let late = try await agent.startAndExit(["--secret-file", old])
            #expect(late.status == 78 && late.errors.contains("not the one that this state was made with"), "\(late)")
            try await agent.start("--secret-file", new)
            try await approve(sandbox, by: agent)
            let audit = try await agent.ctl("audit", "export")
            #expect(audit.output.contains(#""entry":"secretChanged","keys":1"#))
            try await agent.ctl("audit", "verify")
        }
    }

    @Test func `credentials of those names are taken, and the previous one need not be there`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            _ = try scenario.privateFile("secret", Self.old)
            let environment = ["CREDENTIALS_DIRECTORY": scenario.folder]
            try await agent.start(environment: environment)
            _ = try await agent.enroll(at: sandbox)
            _ = try await agent.stop()
            _ = try scenario.privateFile("previous-secret", Self.old)
            _ = try scenario.privateFile("secret", Self.old.reversed())
            for words in ["the secret was changed", "nothing uses the previous secret any more"] {
                try await agent.start(environment: environment)
                try await log(of: agent, has: words)
                try await approve(sandbox, by: agent)
                _ = try await agent.stop()
            }
        }
    }

    @Test func `secrets that cannot be right are clear errors, and change nothing`() async throws {
        try await Scenario.run { scenario in
            let old = try scenario.privateFile("old", Self.old)
            let wrong = try scenario.privateFile("wrong", Array("another secret of 32 characters.".utf8))
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start("--secret-file", old)
            _ = try await agent.enroll(at: sandbox)
            _ = try await agent.stop()
            let other = try scenario.privateFile("other", Self.old.reversed())
            for (present, previous, status, words) in [
                (old, old, 78, "are the same"), (wrong, other, 78, "neither of the two secrets opens it"),
                (old, scenario.folder + "/none", 66, "there is no such file"),
            ] {
                let refused = try await agent.startAndExit(
                    ["--secret-file", present, "--previous-secret-file", previous])
                #expect(refused.status == Int32(status) && refused.errors.contains(words), "\(refused)")
            }
            try await agent.start("--secret-file", old)
            try await approve(sandbox, by: agent)
        }
    }
}

extension Scenario {
    fileprivate func privateFile(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}
