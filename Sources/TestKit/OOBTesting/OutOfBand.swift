import Foundation

/// A sandbox issuer and an agent on free ports, which run as long as a suite with the trait `.outOfBand`.
///
/// `OOB_BIN_DIR` names the directory of `oob-agent`, `oobctl` and `oob-issuer`.
public struct OutOfBand: Sendable {
    /// The sandbox's URL.
    public let issuer: String
    /// The agent's control socket.
    public let socket: String

    @TaskLocal static var running: OutOfBand?

    /// The programs of the current test's suite.
    ///
    /// - Throws: ``OOBError`` in a suite without the trait `.outOfBand`.
    public static var ofThisSuite: OutOfBand {
        get throws {
            guard let running else { throw OOBError(status: 64, description: "give the suite the trait .outOfBand") }
            return running
        }
    }

    /// Enrolls a new cardholder of authnType `test`, whose requests no other test sees.
    ///
    /// The error "this agent was built without personas" means that `OOB_BIN_DIR` has an agent for production. Set it
    /// to `.build/debug`, which `make build` makes.
    ///
    /// - Parameters:
    ///   - persona: the persona that decides, such as `badSignature`, or `nil` if the test decides.
    ///   - times: the number of requests that the persona answers, or `nil` for all.
    ///   - delay: the seconds after which it answers, 0 to 86,400.
    /// - Throws: ``OOBError``.
    public func cardholder(_ persona: String? = nil, times: Int? = nil, delay: Int? = nil) async throws -> Cardholder {
        let code = try await execute("oob-issuer", ["code", "--issuer", issuer, "--json"]).decoded(IssuedCode.self)
        var words = ["enroll", code.link, "--authn-type", "test", "--socket", socket, "--json"]
        for (name, value) in [("--persona", persona), ("--times", times?.description), ("--delay", delay?.description)]
        {
            if let value { words += [name, value] }
        }
        let enrollment = try await execute("oobctl", words).decoded(Enrollment.self)
        return Cardholder(socket: socket, id: enrollment.id, authenticatorId: enrollment.authenticatorId)
    }

    /// Makes a purchase in USD with the cardholder's card.
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
        let purchase = Purchase(issuer: issuer, acsTransId: try await execute("oob-issuer", words + options).text)
        PurchaseLedger.current?.add(purchase)
        return purchase
    }

    /// Moves the clocks of both programs ahead, by a time such as `10m` or `1h30m`; due events happen at once.
    ///
    /// The agent first fetches the earlier purchases.
    /// - Throws: ``OOBError``.
    public func advanceClock(by duration: String) async throws {
        _ = try await execute("oobctl", ["fetch", "--socket", socket])
        _ = try await execute("oobctl", ["clock", "advance", duration, "--socket", socket])
        _ = try await execute("oob-issuer", ["clock", "advance", duration, "--issuer", issuer])
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
    /// The ID of the enrollment.
    public let id: String
    /// The issuer's ID of the enrollment.
    public let authenticatorId: String

    /// An authn request in the JSON of `oobctl`.
    public struct Request: Decodable, Sendable {
        /// The ACS's ID of the transaction.
        public let acsTransId: String
        /// `pending`, `approved`, `denied`, `expired`, `cancelled` or `refused`.
        public let state: String
        /// `Y` or `N`, once the issuer has answered.
        public let transStatus: String?
        /// The URL to which the payer returns after an approval, or `nil` if the merchant gave none.
        public let threeDSRequestorAppURL: String?
    }

    /// Waits for the request, approves it if it is as expected, and returns it once the issuer has accepted it.
    ///
    /// - Parameters:
    ///   - expectAmount: the expected amount, such as `USD 1.00`; a request with another amount is not approved.
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

    /// Returns the pending requests, oldest first.
    public func pending() async throws -> [Request] { try await ctl(["list"]).decoded([Request].self) }

    private func ctl(_ words: [String]) async throws -> Printed {
        try await execute("oobctl", words + ["--enrollment", id, "--socket", socket, "--json"])
    }
}

/// A purchase at the sandbox's merchant.
public struct Purchase: Sendable {
    let issuer: String
    /// The ACS's ID of the transaction.
    public let acsTransId: String

    /// Waits until the purchase is completed, for at most one minute.
    ///
    /// - Returns: `authenticated`, `notAuthenticated`, `expired`, `cancelled`, or still `pending`.
    /// - Throws: ``OOBError``.
    public func outcome() async throws -> String { try await story(wait: 60).status }

    /// Waits until the issuer has refused an assertion for the purchase, for at most one minute.
    ///
    /// - Returns: the failed check, such as `signature`, or `nil` if no assertion was refused.
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

    /// Returns the sandbox's record of the purchase: EMV messages, decisions and their verdicts, as JSON.
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
