import Foundation
import SoftKeys
import Testing

/// What the agent says about keys that can be used, and keys that cannot.
@Suite struct KeyTestTests {
    @Test func `status says of each key how it was last looked at`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let enrolled = try await agent.json("enrollments").elements.first?["keyTest"]
            #expect(enrolled?["extent"] == "signature" && enrolled?["passed"] == true)
            _ = try await agent.stop()
            try await agent.start()
            let looked = try await Patience.until("a look at the key") {
                let test = try await agent.json("status")["enrollments"].elements.first?["keyTest"]
                return test?["extent"].text == nil ? nil : test
            }
            #expect(looked["extent"] == "seal" && looked["passed"] == true && looked["problem"].text == nil)
            try await agent.ctl("approve", try await sandbox.purchase(), "--wait", "60")
            let used = try await agent.json("status")["enrollments"].elements.first?["keyTest"]
            #expect(used?["extent"] == "signature" && used?["passed"] == true)
            let text = try await agent.ctl("status").output
            #expect(text.contains("store, exportable") && text.contains("signature passed"))
        }
    }

    @Test func `a key whose file is gone makes the agent degraded, and it is well when the file is back`() async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = (try await scenario.sandbox(), scenario.agent())
            agent.mayLogError("a key cannot be used")
            try await agent.start()
            let path = scenario.folder + "/key.pem"
            try ProgramRun.output(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path])
            _ = try await agent.enroll(at: sandbox, keyURI: "file:" + path)
            _ = try await agent.stop()
            try FileManager.default.moveItem(atPath: path, toPath: scenario.folder + "/kept.key")
            try await agent.start()
            let status = try await Patience.until("a degraded agent") {
                let status = try await agent.json("status")
                return status["state"] == "degraded" ? status : nil
            }
            let reasons = status["reasons"].elements.compactMap(\.text)
            #expect(reasons.contains { $0.contains(path) && $0.contains("its key cannot be used") })
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            let refused = try await agent.ctl("approve", id, "--json", exits: 1)
            let error = try JSON(parsing: refused.errors)["error"]
            #expect(error["code"] == 70006 && error["message"].text?.contains("there is no such file") == true)
            #expect(try await sandbox.timeline(id)["status"] == "pending")
            try FileManager.default.moveItem(atPath: scenario.folder + "/kept.key", toPath: path)
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
            #expect(try await agent.json("status")["state"] == "ready")
        }
    }
}
