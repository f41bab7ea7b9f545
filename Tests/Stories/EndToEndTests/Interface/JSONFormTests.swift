import Foundation
import Testing

/// What scripts read: exactly these members, no others.
@Suite struct JSONFormTests {
    static let always: Set = [
        "id", "jti", "acsTransId", "enrollmentId", "enrollmentName", "issuer", "warnings", "state", "delivery",
        "receivedAt", "expiresAt",
    ]
    static let presented = always.union(["merchantName", "amount", "purchaseDate", "transaction"])
    static let shown: Set = ["text", "textDigest", "authnType"]
    static let decided: Set = ["transStatus", "decidedAt"]
    static let enrollment: Set = [
        "id", "issuer", "authenticatorId", "credentialId", "algorithm", "authnType", "keyUri", "key", "keyTest", "name",
        "state", "signCount", "enrolledAt",
    ]

    @Test func `a request has the members of its state, and none without a value`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let withURL = try await sandbox.purchase(["threeDSRequestorAppURL": "app://back"])
            let without = try await sandbox.purchase()
            let refused = try await sandbox.purchase(["userVerification": "required"])
            for id in [withURL, without] {
                let row = try await agent.received(id)
                let url: Set<String> = id == withURL ? ["threeDSRequestorAppURL"] : []
                #expect(row.memberNames == Self.presented.union(url))
                #expect(try await agent.json("show", id).memberNames == Self.presented.union(url).union(Self.shown))
            }
            let approved = try await agent.json("approve", withURL)
            #expect(
                approved.memberNames
                    == Self.presented.union(["threeDSRequestorAppURL"]).union(Self.shown).union(Self.decided))
            let denied = try await agent.json("deny", without)
            #expect(denied.memberNames == Self.presented.union(["reason"]).union(Self.shown).union(Self.decided))
            let refusal = try await agent.request(refused, untilIts: "delivery", is: "delivered")
            #expect(refusal.memberNames == Self.always.union(["reason", "refusal", "transStatus"]))
        }
    }

    @Test func `a request's values are those of the purchase`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let transaction: JSON = [
                "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "CoffeeHouse2 (Dæmø)",
                "purchaseAmount": "0012345", "purchaseCurrency": "840", "purchaseExponent": "2",
                "purchaseDate": "20231017055638", "threeDSRequestorAppURL": "app://back?a=b&c=%20#d", "invoice": "7",
            ]
            let request = try await agent.received(try await sandbox.purchase(transaction))
            #expect(request["transaction"] == transaction)
            #expect(request["merchantName"] == "CoffeeHouse2 (Dæmø)")
            #expect(request["amount"] == ["currency": "USD", "value": "123.45"])
            #expect(request["purchaseDate"] == "2023-10-17T05:56:38Z")
            #expect(request["threeDSRequestorAppURL"] == "app://back?a=b&c=%20#d")
            #expect(request["issuer"].text == sandbox.url)
            let row = try await sandbox.timeline("2f37539c-d82e-4929-88db-2f9e72c7fa62")["requests"].elements.first
            #expect(request["jti"] == row?["jti"])
            let received = try #require(try request.instant("receivedAt"))
            let expires = try #require(try request.instant("expiresAt"))
            #expect(abs(expires.timeIntervalSince(received) - 600) < 60)
        }
    }

    @Test func `status, enrollments and an enroll have their members`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            let enrolled = try await agent.enroll(at: sandbox, name: "Dæmø's card")
            #expect(enrolled.memberNames == Self.enrollment)
            #expect(try await agent.json("enrollments") == .array([enrolled]))
            let status = try await agent.json("status")
            let members: Set = [
                "version", "personas", "state", "reasons", "enrollments", "enrollmentCount", "pending", "queued",
                "warnings",
            ]
            #expect(status.memberNames == members)
            #expect(status["state"] == "ready")
            #expect(status["enrollments"] == .array([enrolled]))
            #expect(status["enrollmentCount"] == 1)
            #expect(status["reasons"] == [])

            #expect(enrolled["name"] == "Dæmø's card")
            #expect(enrolled["algorithm"] == -7)
            #expect(enrolled["signCount"] == 0)
            let known = try await sandbox.authenticators().first
            #expect(enrolled["authenticatorId"] == known?["id"])
            #expect(enrolled["credentialId"] == known?["credentialId"])
            #expect(enrolled["keyUri"].text == "store:\(enrolled["id"].text ?? "")")
        }
    }

    @Test func `a test authenticator is warned of wherever it shows`() async throws {
        try await Scenario.run { scenario in
            let sandbox = try await scenario.sandbox()
            let agent = scenario.agent()
            try await agent.start()
            _ = try await agent.enroll(at: sandbox, authnType: "test")
            let request = try await agent.received(try await sandbox.purchase())
            let status = try await agent.json("status")
            let ofRequest = request["warnings"].elements
            #expect(ofRequest.map { $0["id"] } == ["testAuthenticator"])
            #expect(ofRequest.map(\.memberNames) == [["id", "message", "severity"]])
            let ofStatus = status["warnings"].elements.filter { $0["id"] == "testAuthenticator" }
            #expect(ofStatus.map(\.memberNames) == [["id", "message", "severity", "enrollment"]])
        }
    }

    @Test func `with JSON several decisions are an object a line, and errors go to standard error`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let ids = [try await sandbox.purchase(), try await sandbox.purchase()]
            for id in ids { _ = try await agent.received(id) }
            let several = try await agent.ctl("deny", ids[1], "nosuchrequest", ids[0], "--json", exits: 3)
            let lines = try several.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(lines.map { $0["acsTransId"].text } == [ids[1], ids[0]])
            let error = try JSON(parsing: several.errors)
            #expect(error.memberNames == ["error"])
            #expect(error["error"].memberNames == ["code", "name", "message"])
            #expect(error["error"]["message"].text?.contains("nosuchrequest") == true)
        }
    }

    @Test func `an error has D1's number and name, also if no agent listens and for wrong usage`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            let absent = try await agent.ctl("status", "--json", exits: 69)
            #expect(absent.output.isEmpty)
            #expect(try JSON(parsing: absent.errors)["error"]["code"] == 70006)
            #expect(absent.errors.contains(agent.socket))
            let wrong = try await agent.ctl("approve", "--json", exits: 64)
            let error = try JSON(parsing: wrong.errors)["error"]
            #expect(error["code"] == 60002)
            #expect(error["name"] == "invalidArgument")
        }
    }
}

extension JSON {
    /// The time of a member; nil where it is not RFC 3339 in UTC, in whole seconds.
    fileprivate func instant(_ name: String) throws -> Date? {
        guard let text = self[name].text, text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil else {
            return nil
        }
        return try Date(text, strategy: .iso8601)
    }
}
