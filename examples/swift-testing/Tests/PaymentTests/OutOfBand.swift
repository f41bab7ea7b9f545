import Foundation
import Testing

/// A sandbox issuer and an agent that run as long as the suite with the trait `.outOfBand`.
struct OutOfBand: Sendable {
    let issuer: String
    let socket: String

    @TaskLocal fileprivate static var running: OutOfBand?

    static var ofThisSuite: OutOfBand {
        get throws { try #require(running, "give the suite the trait .outOfBand") }
    }

    /// A payer of its own: what it sees and decides is nobody else's.
    func enroll() async throws -> Payer {
        let code = try await run("oob-issuer", ["code", "--issuer", issuer, "--json"]).decoded(IssuedCode.self)
        let words = ["enroll", code.link, "--authn-type", "presence", "--socket", socket, "--json"]
        return Payer(socket: socket, enrollment: try await run("oobctl", words).decoded(Enrollment.self))
    }

    /// Buys something in USD with that payer's card; returns the acsTransId.
    func purchase(by payer: Payer, cents: Int) async throws -> String {
        let words = [
            "purchase", "--issuer", issuer, "--authenticator-id", payer.enrollment.authenticatorId,
            "--amount", "\(cents)", "--currency", "840", "--exponent", "2", "--merchant", "CoffeeHouse2",
            "--app-url", "https://merchant.example/return",
        ]
        return try await run("oob-issuer", words).text
    }

    private struct IssuedCode: Decodable {
        let link: String
    }
}

struct Enrollment: Decodable {
    let id: String
    let authenticatorId: String
}

/// What the payer sees and decides, by `oobctl`.
struct Payer: Sendable {
    let socket: String
    let enrollment: Enrollment

    struct Request: Decodable {
        let acsTransId: String
        let state: String
        let transStatus: String?
        let threeDSRequestorAppURL: String?
    }

    /// Waits for the request, approves it if it is as expected, and returns it once the issuer took it.
    @discardableResult
    func approve(_ acsTransId: String, expectAmount: String? = nil, wait: Int = 30) async throws -> Request {
        let expected = expectAmount.map { ["--expect-amount", $0] } ?? []
        return try await ctl(["approve", acsTransId, "--wait", "\(wait)"] + expected).decoded(Request.self)
    }

    @discardableResult
    func deny(_ acsTransId: String, wait: Int = 30) async throws -> Request {
        try await ctl(["deny", acsTransId, "--wait", "\(wait)"]).decoded(Request.self)
    }

    func pending() async throws -> [Request] { try await ctl(["list"]).decoded([Request].self) }

    private func ctl(_ words: [String]) async throws -> Printed {
        try await run("oobctl", words + ["--enrollment", enrollment.id, "--socket", socket, "--json"])
    }
}

/// Starts both programs before the suite's first test, and stops them after its last.
struct OutOfBandTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let folder = "/tmp/oob-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sandbox = try LongRunning("oob-issuer", ["serve", "--listen", "localhost:0"])
        defer { sandbox.stop() }
        let agent = try LongRunning(
            "oob-agent",
            ["--state-dir", "\(folder)/state", "--socket", "\(folder)/control.sock", "--log-level", "error"])
        defer { agent.stop() }
        let running = OutOfBand(issuer: try await sandbox.address(), socket: try await agent.address())
        try await OutOfBand.$running.withValue(running, operation: function)
    }
}

extension Trait where Self == OutOfBandTrait {
    static var outOfBand: OutOfBandTrait { OutOfBandTrait() }
}
