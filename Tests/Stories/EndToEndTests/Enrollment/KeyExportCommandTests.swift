import Foundation
import SoftKeys
import Testing

/// `oobctl key export`.
@Suite struct KeyExportCommandTests {
    @Test func `a sealed key is written to a new file for its owner alone, and openssl reads the public half`()
        async throws
    {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            let id = try await agent.json("enrollments").elements.first?["id"].text ?? ""
            let path = scenario.folder + "/card.pem"
            #expect(try await agent.json("key", "export", id, "-o", path) == ["file": .string(path)])
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let sealed = try String(contentsOfFile: path, encoding: .utf8)
            #expect(sealed.hasPrefix("-----BEGIN OOB-AGENT SEALED KEY-----\n"))
            #expect(try await agent.ctl("key", "export", id).output == sealed)

            let before = try await exports(agent)
            try await agent.ctl("key", "export", id, "--public", "-o", path, exits: 1)
            #expect(try await exports(agent) == before && before == ["exportKey", "exportKey"])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == sealed)
            try await agent.ctl("key", "export", id, "--public", "-o", path, "--force")
            try ProgramRun.output(["openssl", "pkey", "-pubin", "-in", path, "-noout"])
            let key = try await agent.json("key", "export", id)
            #expect(key["publicKey"] == .null && key["sealedKey"] == .string(sealed))
            let half = try await agent.json("key", "export", id, "--public")
            #expect(half["publicKey"].text?.hasPrefix("-----BEGIN PUBLIC KEY") == true && half["sealedKey"] == .null)
            #expect(try await exports(agent).suffix(3) == ["exportPublicKey", "exportKey", "exportPublicKey"])
        }
    }

    /// The commands of the journal that export a key.
    private func exports(_ agent: AgentUnderTest) async throws -> [String] {
        try await agent.ctl("audit", "export").output.split(separator: "\n").compactMap { line in
            ["exportKey", "exportPublicKey"].first { line.contains(#""command":"\#($0)""#) }
        }
    }

    @Test func `a key that the agent did not make is not given out, and its public half is`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start()
            let path = scenario.folder + "/key.pem"
            try ProgramRun.output(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path])
            let id = try await agent.enroll(at: sandbox, keyURI: "file:" + path)["id"].text ?? ""
            let refused = try await agent.ctl("key", "export", id, exits: 64)
            #expect(refused.errors.contains("the agent did not make the key file:\(path)"))
            #expect(try await exports(agent) == [])
            let theirs = try ProgramRun.output(["openssl", "pkey", "-in", path, "-pubout"])
            let printed = try await agent.ctl("key", "export", id, "--public").output
            #expect(printed == String(decoding: theirs, as: UTF8.self))
        }
    }
}
