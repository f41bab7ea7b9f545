import Foundation
import Glibc
import Testing

@Suite struct AgentStartTests {
    @Test(arguments: [
        ("log-level: info\nlog-colour: red\n", 2, "log-colour"), ("log-level: loud\n", 1, "log-level"),
        ("\n\nmax-undecided: -1\n", 3, "max-undecided"), ("max-undecided: [1]\n", 1, "max-undecided"),
        ("log-level: info\nlog-level: debug\n", 2, "log-level"), ("- log-level\n", 1, "log-level"),
        ("log-level: info\n\tsocket: x\n", 2, "tab"),
    ])
    func `a bad config exits 78 and names file, line and member`(text: String, line: Int, words: String) async throws {
        try await Scenario.run { scenario in
            let file = "\(scenario.folder)/agent.yaml"
            try Data(text.utf8).write(to: URL(filePath: file))
            let agent = scenario.agent()
            for arguments in [["--config", file], ["--config", file, "--check-config"]] {
                let refused = try await agent.startAndExit(arguments)
                #expect(refused.status == 78, "\(refused)")
                #expect(refused.errors.contains("\(file):\(line)"), "\(refused)")
                #expect(refused.errors.contains(words), "\(refused)")
                #expect(refused.errors.split(separator: "\n").count == 1)
            }
            #expect(!FileManager.default.fileExists(atPath: agent.stateDirectory))
        }
    }

    @Test func `a config that is not there exits 78, a good one is only checked`() async throws {
        try await Scenario.run { scenario in
            let file = "\(scenario.folder)/agent.yaml"
            let agent = scenario.agent()
            #expect(try await agent.startAndExit(["--config", file]).status == 78)
            try Data("log-level: error\nmax-undecided: 5\nexponent-policy: warn\n".utf8).write(to: URL(filePath: file))
            let checked = try await agent.startAndExit(["--config", file, "--check-config"])
            #expect(checked.status == 0, "\(checked)")
            #expect(!FileManager.default.fileExists(atPath: agent.stateDirectory))
        }
    }

    @Test func `a flag is stronger than the environment, which is stronger than the config`() async throws {
        try await Scenario.run { scenario in
            let file = "\(scenario.folder)/agent.yaml"
            try Data("log-level: error\n".utf8).write(to: URL(filePath: file))
            let agent = scenario.agent()
            try await agent.start("--config", file)
            _ = try await agent.stop()
            #expect(!agent.log.contains("ready"))
            try await agent.start("--config", file, environment: ["OOB_AGENT_LOG_LEVEL": "warning"])
            _ = try await agent.stop()
            #expect(!agent.log.contains("ready"))
            try await agent.start(
                "--config", file, "--log-level", "notice", environment: ["OOB_AGENT_LOG_LEVEL": "error"])
            try await Patience.until("the line `ready`") { agent.log.contains("notice ready") ? () : nil }
        }
    }

    @Test func `a state directory that others may write to exits 77`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try FileManager.default.createDirectory(atPath: agent.stateDirectory, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: agent.stateDirectory)
            let refused = try await agent.startAndExit([])
            #expect(refused.status == 77, "\(refused)")
            #expect(refused.errors.contains("0777"))
            #expect(refused.errors.contains(agent.stateDirectory))
            #expect(agent.stateFiles.isEmpty)
        }
    }

    /// Nobody writes to sysfs's directories, root neither.
    @Test(arguments: ["/sys/kernel", "/sys/oob-agent", "/dev/null", "/dev/null/state"])
    func `a state directory that cannot be written to exits 77`(path: String) async throws {
        try await Scenario.run { scenario in
            let refused = try await scenario.run(
                "oob-agent", ["--state-dir", path, "--socket", "\(scenario.folder)/a.sock"])
            #expect(refused.status == 77, "\(refused)")
            #expect(refused.errors.contains(path))
            #expect(refused.errors.split(separator: "\n").count == 1)
        }
    }

    /// SwiftNIO takes 103 bytes of the 107 that `sockaddr_un` has room for (unix(7)).
    @Test func `a socket path of 103 bytes works, one more is refused with the bound`() async throws {
        try await Scenario.run { scenario in
            let name = "/control.sock"
            let missing = 102 - scenario.folder.utf8.count - name.utf8.count
            let directory = scenario.folder + "/" + String(repeating: "d", count: missing)
            for directory in [directory, directory + "d"] {
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            }
            let agent = scenario.agent()
            let refused = try await agent.startAndExit(["--socket", directory + "d" + name])
            #expect([64, 78].contains(refused.status), "\(refused)")
            #expect(refused.errors.contains("has 104 bytes"))
            #expect(refused.errors.contains("at most 103 are taken, which is SwiftNIO's bound (Linux has 107)"))
            try await agent.start("--socket", directory + name, answeringAt: directory + name)
        }
    }

    @Test func `a socket that cannot be there exits 78 and names it`() async throws {
        try await Scenario.run { scenario in
            let file = "\(scenario.folder)/file"
            try Data("kept".utf8).write(to: URL(filePath: file))
            let agent = scenario.agent()
            for path in ["\(scenario.folder)/none/a.sock", file, scenario.folder] {
                let refused = try await agent.startAndExit(["--socket", path])
                #expect(refused.status == 78, "\(refused)")
                #expect(refused.errors.contains("the control socket \(path)"), "\(refused)")
                #expect(refused.output.isEmpty, "it must not say that it listens")
            }
            #expect(FileManager.default.contents(atPath: file) == Data("kept".utf8))
        }
    }

    @Test func `it says where it listens, at any log level, once oobctl is answered`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            let child = try scenario.start(
                "oob-agent",
                ["--state-dir", agent.stateDirectory, "--socket", agent.socket, "--log-level", "error"], files: "quiet")
            let said = try await Patience.until("a line of the agent") {
                child.output.hasSuffix("\n") ? child.output : nil
            }
            #expect(said == "listening on \(agent.socket)\n")
            #expect(try await scenario.run("oobctl", ["status", "--socket", agent.socket]).status == 0)
        }
    }

    @Test func `an abandoned socket is replaced, and nobody else may use the new one`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            await agent.kill()
            #expect(FileManager.default.fileExists(atPath: agent.socket))
            try await agent.start()
            let mode = try FileManager.default.attributesOfItem(atPath: agent.socket)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `everything in the state directory is the agent's alone`() async throws {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            #expect(agent.stateFiles.count > 3)
            for path in agent.stateFiles + [agent.stateDirectory] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600 || mode == 0o700, "\(path)")
            }
        }
    }

    @Test func `the default places are the state directory of the user, and the socket in it`() async throws {
        try await Scenario.run { scenario in
            let agent = try scenario.start("oob-agent", [], files: "default")
            let directory = "\(scenario.folder)/.local/state/oob-agent"
            let status = try await Patience.until("an answer at the default socket") {
                let status = try await scenario.run("oobctl", ["status"])
                return status.status == 0 ? status : nil
            }
            #expect(status.output.contains("ready"))
            #expect(FileManager.default.fileExists(atPath: directory + "/agent.db"))
            #expect(FileManager.default.fileExists(atPath: directory + "/control.sock"))
            agent.signal(SIGTERM)
            #expect(try await agent.exitStatus() == 0)
        }
    }
}
