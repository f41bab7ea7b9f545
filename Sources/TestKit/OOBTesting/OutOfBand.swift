import Foundation

/// A sandbox issuer and an agent that run as long as the suite with the trait `.outOfBand`, on free ports.
///
/// `OOB_BIN_DIR` names the directory of `oob-agent`, `oobctl` and `oob-issuer`.
public struct OutOfBand: Sendable {
    /// The sandbox's URL.
    public let issuer: String
    /// The agent's control socket.
    public let socket: String

    @TaskLocal static var running: OutOfBand?

    /// The programs of the suite that the running test is in.
    ///
    /// - Throws: ``OOBError`` in a suite without the trait `.outOfBand`.
    public static var ofThisSuite: OutOfBand {
        get throws {
            guard let running else { throw OOBError(status: 64, description: "give the suite the trait .outOfBand") }
            return running
        }
    }

    /// A cardholder of its own, of authnType `test`: what it sees and decides is nobody else's.
    ///
    /// If it throws "this agent was built without personas", `OOB_BIN_DIR` has an agent for production: let it name
    /// `.build/debug`, which `make build` makes.
    ///
    /// - Parameters:
    ///   - persona: who plays it, such as `badSignature`; nil: the test decides.
    ///   - times: how many requests the persona answers; nil: all.
    ///   - delay: the seconds after which it answers, 0 to 86,400.
    /// - Throws: ``OOBError``.
    public func cardholder(_ persona: String? = nil, times: Int? = nil, delay: Int? = nil) async throws -> Cardholder {
        let code = try await run("oob-issuer", ["code", "--issuer", issuer, "--json"]).decoded(IssuedCode.self)
        var words = ["enroll", code.link, "--authn-type", "test", "--socket", socket, "--json"]
        for (name, value) in [("--persona", persona), ("--times", times?.description), ("--delay", delay?.description)]
        {
            if let value { words += [name, value] }
        }
        let enrollment = try await run("oobctl", words).decoded(Enrollment.self)
        return Cardholder(socket: socket, id: enrollment.id, authenticatorId: enrollment.authenticatorId)
    }

    /// Buys something in USD with that cardholder's card.
    ///
    /// - Parameters:
    ///   - cents: the amount, in minor units.
    ///   - options: more options of `oob-issuer purchase`, such as `["--user-verification", "required"]`.
    /// - Throws: ``OOBError``.
    public func purchase(
        by cardholder: Cardholder, cents: Int, merchant: String = "CoffeeHouse2", options: [String] = []
    ) async throws -> Purchase {
        let words = [
            "purchase", "--issuer", issuer, "--authenticator-id", cardholder.authenticatorId,
            "--amount", "\(cents)", "--currency", "840", "--exponent", "2", "--merchant", merchant,
            "--app-url", "https://merchant.example/return",
        ]
        let purchase = Purchase(issuer: issuer, acsTransId: try await run("oob-issuer", words + options).text)
        PurchaseLedger.current?.add(purchase)
        return purchase
    }

    /// Sets the clocks of both programs forward, by a time such as `10m` or `1h30m`: what is due by then happens at once.
    ///
    /// What was bought before has come to the agent by then.
    /// - Throws: ``OOBError``.
    public func advanceClock(by duration: String) async throws {
        _ = try await run("oobctl", ["fetch", "--socket", socket])
        _ = try await run("oobctl", ["clock", "advance", duration, "--socket", socket])
        _ = try await run("oob-issuer", ["clock", "advance", duration, "--issuer", issuer])
    }

    private struct IssuedCode: Decodable {
        let link: String
    }

    private struct Enrollment: Decodable {
        let id: String
        let authenticatorId: String
    }
}

/// A cardholder's app at the sandbox.
public struct Cardholder: Sendable {
    let socket: String
    /// The enrollment's id.
    public let id: String
    /// The issuer's name for it.
    public let authenticatorId: String

    /// An authn request, as `oobctl` prints it.
    public struct Request: Decodable, Sendable {
        /// The ACS's id of the transaction.
        public let acsTransId: String
        /// `pending`, `approved`, `denied`, `expired`, `cancelled` or `refused`.
        public let state: String
        /// `Y` or `N`, once the issuer has answered.
        public let transStatus: String?
        /// Where the payer returns to after an approval; nil if the merchant gave none.
        public let threeDSRequestorAppURL: String?
    }

    /// Waits for the request, approves it if it is as expected, and returns it once the issuer took it.
    ///
    /// - Parameters:
    ///   - expectAmount: such as `USD 1.00`; with another amount nothing is approved.
    ///   - wait: the seconds to wait for the request.
    /// - Throws: ``OOBError`` with the exit status of `oobctl`.
    @discardableResult
    public func approve(_ purchase: Purchase, expectAmount: String? = nil, wait: Int = 30) async throws -> Request {
        let expected = expectAmount.map { ["--expect-amount", $0] } ?? []
        return try await ctl(["approve", purchase.acsTransId, "--wait", "\(wait)"] + expected).decoded(Request.self)
    }

    /// Waits for the request, and denies it.
    @discardableResult
    public func deny(_ purchase: Purchase, wait: Int = 30) async throws -> Request {
        try await ctl(["deny", purchase.acsTransId, "--wait", "\(wait)"]).decoded(Request.self)
    }

    /// The requests that wait for a decision, oldest first.
    public func pending() async throws -> [Request] { try await ctl(["list"]).decoded([Request].self) }

    private func ctl(_ words: [String]) async throws -> Printed {
        try await run("oobctl", words + ["--enrollment", id, "--socket", socket, "--json"])
    }
}

/// A purchase at the sandbox's merchant.
public struct Purchase: Sendable {
    let issuer: String
    /// The ACS's id of the transaction.
    public let acsTransId: String

    /// Waits until it is decided or has expired, a minute at most.
    ///
    /// - Returns: `authenticated`, `notAuthenticated`, `expired`, `cancelled`, or still `pending`.
    /// - Throws: ``OOBError``.
    public func outcome() async throws -> String { try await story(wait: 60).status }

    /// Waits until the issuer has refused an assertion for it, a minute at most.
    ///
    /// - Returns: the check that failed, such as `signature`; nil if none was refused.
    /// - Throws: ``OOBError``.
    public func failedCheck() async throws -> String? {
        for _ in 0..<600 {
            let told = try await story(wait: 0)
            if let check = told.failedCheck { return check }
            guard told.status == "pending" else { return nil }
            try await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }

    /// All that the sandbox knows of it: its messages in EMV's names, the decisions, and how those were judged.
    public func story() async throws -> String { String(decoding: try await json(wait: 0), as: UTF8.self) }

    private func story(wait: Int) async throws -> Story {
        try JSONDecoder().decode(Story.self, from: try await json(wait: wait))
    }

    private func json(wait: Int) async throws -> Data {
        let path = "\(issuer)/sandbox/purchases/\(acsTransId)" + (wait > 0 ? "?wait=\(wait)" : "")
        return try await download(path, seconds: Double(wait) + 30)
    }

    private struct Story: Decodable {
        struct Request: Decodable {
            let refusedAssertions: [Refusal]?
        }

        struct Refusal: Decodable {
            let verdict: [Check]
        }

        struct Check: Decodable {
            let check: String
            let result: String
        }

        let status: String
        let requests: [Request]?

        var failedCheck: String? {
            (requests ?? []).flatMap { $0.refusedAssertions ?? [] }.flatMap(\.verdict)
                .first { $0.result == "failed" }?.check
        }
    }
}
