import IssuerProtocol
import Sandbox
import ScratchDirectories
import StrictJSON
import Testing
import TextAndTime

/// A clock that whoever drives a test moves ahead: no test here sleeps, only its move ends what waits.
@Suite(.timeLimit(.minutes(20))) struct TestClockTests {
    private static func issuer(_ database: String? = nil) throws -> TestIssuer {
        try TestIssuer(waitsEnd: false, database: database, hasTestClock: true)
    }

    private func advance(_ issuer: TestIssuer, _ seconds: Int64) async throws -> JSONObject {
        let reply = await issuer.post("/sandbox/clock", ["advanceSeconds": .integer(seconds)])
        try #require(reply.status == 200, "\(reply)")
        return try reply.object
    }

    @Test func `it says how far it is ahead, and what time that makes`() async throws {
        let issuer = try Self.issuer()
        let before = try await issuer.call("GET", "/sandbox/clock").object
        #expect(before == ["isTest": true, "offsetSeconds": 0, "now": .string(UTCTime.text(issuer.now))])
        _ = try await advance(issuer, 600)
        let after = try await advance(issuer, 60)
        #expect(after == ["isTest": true, "offsetSeconds": 660, "now": .string(UTCTime.text(issuer.now + 660))])
        #expect(try await issuer.call("GET", "/sandbox/clock").object == after)
    }

    @Test func `the system's clock is not moved`() async throws {
        let issuer = try TestIssuer()
        let reply = await issuer.post("/sandbox/clock", ["advanceSeconds": 600])
        #expect(reply.outcome == "409")
        #expect(reply.detail?.contains("serve --test-clock") == true)
        #expect(try await issuer.call("GET", "/sandbox/clock").object["isTest"] == false)
    }

    @Test(
        arguments: [
            ["advanceSeconds": 0], ["advanceSeconds": -1], ["advanceSeconds": 34_560_001], ["advanceSeconds": "10m"],
            ["advanceSeconds": .number("1.5")], [:], ["advanceSeconds": nil], ["advanceSeconds": 1, "backwards": true],
            ["advanceSecond": 1],
        ] as [JSONObject])
    func `what is no time to go on by is refused`(body: JSONObject) async throws {
        let issuer = try Self.issuer()
        #expect(await issuer.post("/sandbox/clock", body).status == 400)
        #expect(try await issuer.call("GET", "/sandbox/clock").object["offsetSeconds"] == 0)
    }

    @Test func `all advances together are bounded`() async throws {
        let issuer = try Self.issuer()
        _ = try await advance(issuer, ClockAdvance.maxOffset - 1)
        let refused = await issuer.post("/sandbox/clock", ["advanceSeconds": 2])
        #expect(refused.outcome == "409")
        #expect(refused.detail?.contains("400d at most") == true)
        #expect(try await advance(issuer, 1)["offsetSeconds"] == .integer(ClockAdvance.maxOffset))
    }

    @Test func `a purchase and a code expire on it, and the story has its times`() async throws {
        let issuer = try Self.issuer()
        let authenticator = try await issuer.enrolled()
        let code = try await issuer.code(["expiresIn": 600])
        let purchase = try await issuer.purchase(["expiresIn": 600])
        _ = try await advance(issuer, 599)
        #expect(try await issuer.timeline(purchase).status == "pending")
        _ = try await advance(issuer, 1)
        let timeline = try await issuer.timeline(purchase)
        #expect(timeline.status == "expired")
        #expect(try timeline.json.string("completedAt") == UTCTime.text(issuer.now + 600))
        let late = try authenticator.approval(of: purchase.request)
        #expect(await issuer.decide(try purchase.request.jti, late, by: authenticator).outcome == "410 expired")
        #expect(await issuer.optionsAnswer(code: code).outcome == "403 invalid_enrollment_code")
    }

    @Test func `who waits for a purchase's end has it as soon as the clock is there`() async throws {
        let issuer = try Self.issuer()
        _ = try await issuer.enrolled()
        let purchase = try await issuer.purchase(["expiresIn": 600])
        async let story = issuer.call("GET", "/sandbox/purchases/\(purchase.acsTransId)", query: ["wait": "60"])
        try await waiting(issuer)
        _ = try await advance(issuer, 600)
        #expect(try PurchaseView(try await story.object).status == "expired")
    }

    @Test func `a long poll ends when its wait has passed on the clock`() async throws {
        let issuer = try Self.issuer()
        let authenticator = try await issuer.enrolled()
        let cursor = try await issuer.listed(authenticator).cursor
        async let answer = issuer.call(
            "GET", "/v1/authn-requests", query: ["after": cursor, "wait": "50"], token: authenticator.token)
        try await waiting(issuer)
        // A wait that began only after the first move ends with a later one.
        async let _ = move(issuer)
        let list = try await answer.decoded(RequestList.init(bytes:))
        #expect(list.requests.isEmpty)
    }

    /// Moves the clock on by a minute again and again, until it is cancelled.
    private func move(_ issuer: TestIssuer) async {
        while !Task.isCancelled { _ = await issuer.post("/sandbox/clock", ["advanceSeconds": 60]) }
    }

    private func waiting(_ issuer: TestIssuer) async throws {
        while issuer.backend.notifier.waiting == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `the offset survives a restart`() async throws {
        let directory = try ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory("issuer.sqlite")
        _ = try await advance(Self.issuer(path), 600)
        let second = try Self.issuer(path)
        #expect(try await second.call("GET", "/sandbox/clock").object["offsetSeconds"] == 600)
        #expect(try await advance(second, 1)["offsetSeconds"] == 601)
    }

    @Test func `a database that is ahead is not served by the system's clock`() async throws {
        let directory = try ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory("issuer.sqlite")
        _ = try Self.issuer(path)
        _ = try TestIssuer(database: path)
        _ = try await advance(Self.issuer(path), 600)
        #expect {
            try TestIssuer(database: path)
        } throws: { error in
            "\(error)".contains("is 10m ahead") && "\(error)".contains("serve it with --test-clock again")
        }
    }

    @Test func `a database with authenticators that are not for tests takes no test clock`() async throws {
        let directory = try ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory("issuer.sqlite")
        let authenticator = try await TestIssuer(database: path).enrolled()
        #expect {
            try Self.issuer(path)
        } throws: { error in
            "\(error)".contains("takes no --test-clock: its authenticator \(authenticator.id) is not of authnType test")
        }
        // One that has ended does not matter.
        let issuer = try TestIssuer(database: path)
        #expect(await issuer.post("/sandbox/authenticators/\(authenticator.id)/revoke").status == 200)
        _ = try Self.issuer(path)
    }

    @Test func `a slow answer is slow in real time`() async throws {
        let issuer = try TestIssuer(hasTestClock: true)
        let authenticator = try await issuer.enrolled()
        let fault: JSONObject = ["path": "fetch", "kind": "slow", "milliseconds": 60_000]
        #expect(await issuer.post("/sandbox/faults", ["next": [.object(fault)]]).status == 200)
        _ = try await advance(issuer, 600)
        _ = try await issuer.listed(authenticator)
        #expect(issuer.naps == [.seconds(60)])
    }
}
