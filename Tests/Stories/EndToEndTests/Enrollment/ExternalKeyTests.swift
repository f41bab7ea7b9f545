import Foundation
import SoftKeys
import Testing

/// Enrollments whose key was there already: in a file, on a SoftHSM token, in a software TPM.
@Suite struct ExternalKeyTests {
    private func key(in folder: String, curve: String = "P-256") throws -> String {
        let path = folder + "/their key.pem"
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:" + curve, "-out", path])
        return path
    }

    private func uri(of path: String) -> String { "file:" + path.replacing(" ", with: "%20") }

    /// A purchase that the agent approves, and whose assertion the issuer takes.
    private func expectApproval(_ agent: AgentUnderTest, _ sandbox: Sandbox) async throws {
        let id = try await sandbox.purchase()
        try await agent.ctl("approve", id, "--wait", "60")
        #expect(try await sandbox.ending(id)["status"] == "authenticated")
    }

    /// The error of an approve that cannot use the key; the request goes on waiting.
    private func refusal(of id: String, by agent: AgentUnderTest) async throws -> String {
        _ = try await agent.received(id)
        let refused = try await agent.ctl("approve", id, "--json", exits: 1)
        let error = try JSON(parsing: refused.errors)["error"]
        #expect(error["code"] == 70006 && error["name"] == "authenticatorNotAvailable")
        #expect(try await agent.received(id)["state"] == "pending")
        return error["message"].text ?? ""
    }

    @Test func `a key in a file signs, also after a restart, and stays when the enrollment ends`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start()
            let path = try key(in: scenario.folder)
            let enrolled = try await agent.enroll(at: sandbox, keyURI: uri(of: path))
            #expect(enrolled["keyUri"].text == uri(of: path))
            #expect(enrolled["key"] == ["kind": "file", "exportable": true])
            try await expectApproval(agent, sandbox)
            _ = try await agent.stop()
            try await agent.start()
            try await expectApproval(agent, sandbox)
            #expect(try await agent.json("status")["enrollments"].elements.map { $0["key"]["kind"] } == ["file"])
            let before = FileManager.default.contents(atPath: path)
            let ended = try await agent.ctl("unenroll", enrolled["id"].text ?? "")
            #expect(ended.errors.contains(uri(of: path)) && ended.errors.contains("leaves it there"))
            #expect(before != nil && FileManager.default.contents(atPath: path) == before)
        }
    }

    @Test func `a key file that was replaced, cut or opened to others signs nothing until it is in order`() async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            agent.mayLogError("a key cannot be used")
            try await agent.start()
            let path = try key(in: scenario.folder)
            _ = try await agent.enroll(at: sandbox, keyURI: uri(of: path))
            let before = try #require(FileManager.default.contents(atPath: path))
            let id = try await sandbox.purchase()
            _ = try key(in: scenario.folder)
            #expect(try await refusal(of: id, by: agent).contains("not the key that was enrolled"))
            try before.prefix(100).write(to: URL(filePath: path))
            #expect(try await refusal(of: id, by: agent).contains("damaged"))
            try before.write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            #expect(try await refusal(of: id, by: agent).contains("its mode is 0644"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `a token's key signs, and not while the token is taken out`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            let token = try SoftToken(in: scenario.folder + "/hsm")
            try token.makeOpenKey("card")
            agent.mayLogError("a key cannot be used")
            try await agent.start("--pkcs11-module", SoftToken.modulePath, environment: token.environment)
            let enrolled = try await agent.enroll(at: sandbox, keyURI: token.uri("card"))
            #expect(enrolled["key"] == ["kind": "pkcs11", "exportable": false])
            try await expectApproval(agent, sandbox)
            let putBack = try token.takeOut()
            let id = try await sandbox.purchase()
            #expect(try await refusal(of: id, by: agent).contains("there is no such token"))
            try putBack()
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `a key of the TPM signs, and not while the TPM is gone`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            let tpm = try SoftTPM(in: scenario.folder + "/tpm", socket: scenario.folder + "/tpm.sock")
            let uris = [try tpm.makeKey("0x81000001"), try tpm.makeFile("key.pem")]
            agent.mayLogError("a key cannot be used")
            try await agent.start("--tpm-tcti", tpm.tcti, environment: ["TSS2_LOG": "all+none"])
            for uri in uris {
                let enrolled = try await agent.enroll(at: sandbox, keyURI: uri)
                #expect(enrolled["key"] == ["kind": "tpm", "exportable": false])
                try await expectApproval(agent, sandbox)
                try await agent.ctl("unenroll", enrolled["id"].text ?? "")
            }
            _ = try await agent.enroll(at: sandbox, keyURI: uris[0])
            try tpm.stop()
            let id = try await sandbox.purchase()
            #expect(try await refusal(of: id, by: agent).contains("the TPM does not answer"))
            try tpm.start()
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    @Test func `a URI that is none, or holds a PIN, is wrong usage, and the code is still good`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start()
            let code = try await sandbox.code()
            let enroll = ["enroll", "--issuer", sandbox.url, "--code", code]
            for (uri, says) in [
                ("engine:pkcs11", "a key URI begins with"), ("key.pem", "a key URI begins with"),
                ("pkcs11:token=t;object=o?pin-value=736251", "a key URI must not hold a PIN"),
                ("handle:0x1", "handle:0x81000000"),
            ] {
                let refused = try await agent.ctl(enroll + ["--key-uri", uri, "--json"], exits: 64)
                let error = try JSON(parsing: refused.errors)["error"]
                #expect(error["code"] == 60002 && error["message"].text?.contains(says) == true)
                #expect(!refused.errors.contains("736251"))
            }
            let unset = try await agent.ctl(enroll + ["--key-uri", "pkcs11:token=t;object=o"], exits: 1)
            #expect(unset.errors.contains("pkcs11-module"))
            #expect(!agent.log.contains("736251"))
            try await agent.ctl(enroll)
        }
    }

    @Test func `a key is one enrollment's, and has an algorithm that the issuer takes`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            try await agent.start()
            let path = try key(in: scenario.folder, curve: "P-384")
            let enroll = ["enroll", "--issuer", sandbox.url, "--key-uri", uri(of: path), "--code"]
            let other = try await agent.ctl(
                enroll + [try await sandbox.code(["algorithms": [-7]])], exits: 1)
            #expect(other.errors.contains("ES384"))
            let first = try await agent.enroll(at: sandbox, keyURI: uri(of: path))
            #expect(first["algorithm"] == -35)
            let twice = try await agent.ctl(enroll + [try await sandbox.code()], exits: 1)
            #expect(twice.errors.contains(first["id"].text ?? "no id"))
        }
    }

    @Test(arguments: [
        (["--pkcs11-module", "module.so"], "--pkcs11-module: must be an absolute path"),
        (["--tpm-tcti", "a b"], "--tpm-tcti: must have 1 to 255 visible ASCII characters"),
    ])
    func `a setting that cannot be is wrong usage`(flags: [String], says: String) async throws {
        try await Scenario.run { scenario in
            let refused = try await scenario.agent().startAndExit(flags)
            #expect(refused.status == 64 && refused.errors.contains(says))
        }
    }
}
