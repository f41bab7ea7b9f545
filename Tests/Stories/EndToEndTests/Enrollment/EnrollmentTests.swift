import Foundation
import Testing

@Suite struct EnrollmentTests {
    @Test func `a wrong code exits 9 with D1's number, and leaves nothing behind`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let wrong = try await agent.ctl(
                "enroll", "--issuer", sandbox.url, "--code", "0000-0000", "--json", exits: 9)
            #expect(wrong.output.isEmpty)
            let error = try JSON(parsing: wrong.errors)["error"]
            #expect(error["code"] == 70005)
            #expect(error["name"] == "authnInvalidEnrollmentToken")
            #expect(error["message"].text?.contains("Ask the issuer for a new one") == true)
            #expect(try await agent.json("enrollments") == [])
        }
    }

    @Test func `a code is good for one enrollment`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let code = try await sandbox.code()
            try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", code)
            try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", code, exits: 9)
            #expect(try await agent.json("enrollments").elements.count == 1)
        }
    }

    @Test func `the issuer's link is enough to enroll`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let enrolled = try await agent.ctl("enroll", try await sandbox.link())
            let rows = try await agent.json("enrollments").elements
            #expect(rows.map { $0["id"].text } == [enrolled.output.trimmingCharacters(in: .newlines)])
            #expect(rows.first?["issuer"].text == sandbox.url)
            #expect(rows.first?["state"] == "active")
            #expect(rows.first?["authnType"] == "presence")
        }
    }

    @Test(arguments: ["none": "none", "direct": "packed", "indirect": "packed", "enterprise": "packed"])
    func `the attestation is what the issuer asked for`(conveyance: String, format: String) async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            _ = try await agent.enroll(at: sandbox, code: ["attestation": .string(conveyance)])
            #expect(try await sandbox.authenticators().map { $0["format"].text } == [format])
        }
    }

    @Test func `what cannot be is refused before anything is asked of the issuer`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let code = try await sandbox.code()
            let pin = try await agent.ctl(
                "enroll", "--issuer", sandbox.url, "--code", code, "--authn-type", "pin", exits: 64)
            #expect(pin.errors.contains("--pin-file"))
            let plain = try await agent.ctl("enroll", "--issuer", "http://issuer.example", "--code", code, exits: 64)
            #expect(plain.errors.contains("https"))
            // The code is still good.
            try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", code)
        }
    }

    @Test func `an issuer that requires user verification gets no key from an agent that has none`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let code = try await sandbox.code(["userVerification": "required"])
            let refused = try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", code, exits: 1)
            #expect(refused.errors.contains("user verification"))
            #expect(try await sandbox.authenticators().isEmpty)
        }
    }

    @Test func `a cardholder's second enrollment of the same agent is refused as already enrolled`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let known = try await sandbox.authenticators().first?["id"] ?? .null
            let code = try await sandbox.code(["sameCardholderAs": known])
            let refused = try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", code, exits: 1)
            #expect(refused.errors.contains("already"))
            #expect(try await agent.json("enrollments").elements.count == 1)
        }
    }

    @Test func `an issuer that nobody serves is said to be unreachable`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            await sandbox.goDown()
            let refused = try await agent.ctl("enroll", "--issuer", sandbox.url, "--code", "7QK4-M2XD", exits: 1)
            #expect(refused.errors.contains(sandbox.url))
        }
    }

    @Test func `an enrollment whose answer was lost is sent again and made once`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            try await sandbox.fail("enroll", status: 500, times: 2, after: true)
            let enrollment = try await agent.enroll(at: sandbox)
            #expect(enrollment["state"] == "active")
            #expect(try await sandbox.authenticators().count == 1)
        }
    }

    @Test func `unenrolling twice succeeds twice`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await agent.json("enrollments").elements.first?["id"].text ?? ""
            #expect(try await agent.json("enrollments").elements.count == 1)

            let first = try await agent.json("unenroll", id)
            #expect(first == ["id": .string(id), "unenrolled": true, "wasEnrolled": true])
            #expect(try await sandbox.authenticators().map { $0["state"] } == ["unenrolled"])

            let second = try await agent.json("unenroll", id)
            #expect(second == ["id": .string(id), "unenrolled": true, "wasEnrolled": false])
            #expect(try await agent.json("enrollments") == [])
        }
    }

    @Test func `an issuer that is down keeps an enrollment, unless it is ended locally`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await agent.json("enrollments").elements.first?["id"].text ?? ""
            await sandbox.goDown()
            try await agent.ctl("unenroll", id, exits: 1)
            #expect(try await agent.json("enrollments").elements.count == 1)
            try await agent.ctl("unenroll", id, "--local")
        }
    }
}
