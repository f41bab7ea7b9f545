import Foundation
import Testing

@Suite struct SecretTests {
    static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

    @Test func `a secret that is too short is refused with the bound, and nothing is made`() async throws {
        try await Scenario.run { scenario in
            let file = try scenario.secretFile("short", Array(Self.secret.prefix(15)))
            let agent = scenario.agent()
            let refused = try await agent.startAndExit(["--secret-file", file])
            #expect(refused.status == 78, "\(refused)")
            #expect(refused.errors.contains(file))
            #expect(refused.errors.contains("16"))
            #expect(!agent.stateFiles.contains { $0.contains("agent.db") })
        }
    }

    @Test func `a secret that is not there, or that others may read, is refused`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            let missing = try await agent.startAndExit(["--secret-file", "\(scenario.folder)/none"])
            #expect(missing.status == 66, "\(missing)")
            let file = try scenario.secretFile("open", Self.secret, mode: 0o644)
            let open = try await agent.startAndExit(["--secret-file", file])
            #expect(open.status == 77, "\(open)")
            #expect(open.errors.contains("0644"))
        }
    }

    @Test func `another secret than that of the keys is a clear error, and nothing is signed`() async throws {
        try await Scenario.run { scenario in
            let right = try scenario.secretFile("right", Self.secret)
            let wrong = try scenario.secretFile("wrong", Self.secret.reversed())
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start("--secret-file", right)
            _ = try await agent.enroll(at: sandbox)
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            _ = try await agent.stop()

            let refused = try await agent.startAndExit(["--secret-file", wrong])
            #expect(refused.status == 78, "\(refused)")
            #expect(refused.errors.contains("secret"))
            #expect(try await sandbox.timeline(id)["status"] == "pending")

            try await agent.start("--secret-file", right)
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `neither the access token, nor the secret, nor a key in clear is in a log or a file`() async throws {
        try await Scenario.run { scenario in
            let file = try scenario.secretFile("secret", Self.secret)
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start("--secret-file", file, "--log-level", "debug")
            _ = try await agent.enroll(at: sandbox)
            try await agent.ctl("approve", try await sandbox.purchase(), "--wait", "60")
            #expect(try await agent.stop() == 0)

            let tokens = sandbox.accessTokens
            #expect(tokens.count == 1)
            // The identifier of P-256, as what follows it shows a private key in clear: in PKCS #8, and in SEC 1. In a
            // public key, which the database has, 0x03 follows.
            let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            for bytes in agent.writtenBytes {
                for token in tokens { #expect(bytes.range(of: Data(token.utf8)) == nil) }
                #expect(bytes.range(of: Data(Self.secret)) == nil)
                #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil)
                for next: UInt8 in [0x04, 0xA1] { #expect(bytes.range(of: Data(p256 + [next])) == nil) }
            }
        }
    }
}

extension Scenario {
    fileprivate func secretFile(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }
}

extension AgentUnderTest {
    /// The log, and every file of the state directory.
    fileprivate var writtenBytes: [Data] {
        [Data(log.utf8)] + stateFiles.compactMap { FileManager.default.contents(atPath: $0) }
    }
}
