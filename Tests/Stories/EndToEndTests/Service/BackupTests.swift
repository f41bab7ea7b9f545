import Foundation
import Testing

/// A state is copied while the agent runs, and comes to life again elsewhere.
@Suite struct BackupTests {
    /// Restores a backup into a new agent's state, and starts that with the secret of the old one.
    private func restored(_ file: String, of old: AgentUnderTest, in scenario: Scenario) async throws -> AgentUnderTest
    {
        let agent = scenario.agent()
        let restored = try await agent.startAndExit(["--restore", file])
        #expect(restored.status == 0, "\(restored)")
        #expect(restored.errors.contains("the state as it was at"), "\(restored)")
        #expect(restored.output.isEmpty)
        // Without the secret of that state none is made, so that the right one can still be given.
        let before = Set(agent.stateFiles)
        let refused = try await agent.startAndExit([])
        #expect(refused.status == 78 && refused.errors.contains("there is no secret"), "\(refused)")
        #expect(Set(agent.stateFiles) == before && !agent.stateFiles.contains { $0.hasSuffix("/secret") })
        try await agent.start("--secret-file", "\(old.stateDirectory)/secret")
        return agent
    }

    @Test func `a backup into a directory that is not there, or takes no files, names the directory`() async throws {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            let folder = "\(scenario.folder)/missing"
            let refused = try await agent.ctl("backup", "\(folder)/backup.db", exits: 1)
            #expect(refused.errors.contains("there is no directory \(folder); make it first"), "\(refused)")
            let inProc = try await agent.ctl("backup", "/proc/backup.db", exits: 1)
            #expect(inProc.errors.contains("the directory /proc takes no files"), "\(inProc)")
        }
    }

    @Test func `a backup that is taken while the agent runs is restored, and approves`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, old) = try await scenario.enrolled()
            let before = try await sandbox.purchase()
            try await old.ctl("approve", before, "--wait", "60")
            let file = "\(scenario.folder)/backup.db"
            #expect(try await old.json("backup", file)["file"] == .string(file))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // The old one goes on for a while: the copy is older than what the issuer has seen.
            try await old.ctl("approve", try await sandbox.purchase(), "--wait", "60")
            #expect(try await old.stop() == 0)

            let agent = try await restored(file, of: old, in: scenario)
            agent.mayLogError("it is an old copy")
            #expect(try await agent.json("list", "--all").elements.map { $0["acsTransId"] } == [.string(before)])
            let after = try await sandbox.purchase()
            try await agent.ctl("approve", after, "--wait", "60")
            #expect(try await sandbox.ending(after)["status"] == "authenticated")
            #expect(try await sandbox.authenticators().first?["signCount"] == .number(3))
        }
    }

    @Test func `a decision in a restored outbox is sent as it is, and taken once`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, old) = try await scenario.enrolled()
            let purchase = try await sandbox.purchase()
            _ = try await old.received(purchase)
            await sandbox.goDown()
            try await old.ctl("approve", purchase, "--delivery-timeout", "0", exits: 75)
            let file = "\(scenario.folder)/backup.db"
            try await old.ctl("backup", file)
            await old.kill()
            let agent = try await restored(file, of: old, in: scenario)
            #expect(try await agent.json("status")["queued"] == 1)
            try await sandbox.comeBack()
            #expect(try await sandbox.ending(purchase)["status"] == "authenticated")
            try await agent.request(purchase, untilIts: "delivery", is: "delivered")
        }
    }

    @Test func `a restore into a state, or of what is no backup, exits with its own status and changes nothing`()
        async throws
    {
        try await Scenario.run { scenario in
            let (_, old) = try await scenario.enrolled()
            let file = "\(scenario.folder)/backup.db"
            try await old.ctl("backup", file)
            let running = try await old.startAndExit(["--restore", file])
            #expect(running.status == 69, "\(running)")
            #expect(try await old.stop() == 0)
            let before = Set(old.stateFiles)
            let occupied = try await old.startAndExit(["--restore", file])
            #expect(occupied.status == 73 && occupied.errors.contains("agent.db"), "\(occupied)")
            #expect(Set(old.stateFiles) == before)

            let whole = FileManager.default.contents(atPath: file) ?? Data()
            let cut = "\(scenario.folder)/cut.db"
            try whole.dropLast(4_096).write(to: URL(filePath: cut))
            let agent = scenario.agent()
            for (path, status) in [("\(scenario.folder)/none", 66), (cut, 65), ("/bin/sh", 65)] as [(String, Int32)] {
                let refused = try await agent.startAndExit(["--restore", path])
                #expect(refused.status == status && refused.errors.contains(path), "\(refused)")
                #expect(agent.stateFiles == ["\(agent.stateDirectory)/agent.lock"])
            }
        }
    }

    @Test func `a file that is there is not overwritten, unless it is forced`() async throws {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            let file = "\(scenario.folder)/backup.db"
            try Data("kept".utf8).write(to: URL(filePath: file))
            try await agent.ctl("backup", file, exits: 1)
            #expect(FileManager.default.contents(atPath: file) == Data("kept".utf8))
            try await agent.ctl("backup", file, "--force")
            #expect(FileManager.default.contents(atPath: file)?.count ?? 0 > 10_000)
            for path in ["/dev/null", scenario.folder, "\(scenario.folder)/none/b.db"] {
                try await agent.ctl("backup", path, "--force", exits: 1)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scenario.folder).allSatisfy {
                    !$0.hasSuffix("partial")
                })
        }
    }

    @Test func `a copy that was cut off by a kill goes at the next start`() async throws {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            await agent.kill()
            let left = "\(agent.stateDirectory)/.backup-1"
            try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
            try await agent.start()
            #expect(!agent.stateFiles.contains { $0.contains(".backup-") })
        }
    }

    @Test func `a state that was not restored to its end is not started on`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try FileManager.default.createDirectory(
                atPath: "\(agent.stateDirectory)/.restore", withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: agent.stateDirectory)
            let refused = try await agent.startAndExit([])
            #expect(refused.status == 65 && refused.errors.contains("--restore"), "\(refused)")
        }
    }
}
