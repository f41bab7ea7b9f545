import Foundation
import GRDB
import IssuerProtocol
import ServedSandbox
import StrictJSON
import Testing

@testable import Sandbox

/// A sandbox that serves HTTP on a port of the loopback, in this process, and sends its pushes.
struct TestIssuer: Sendable {
    /// What the sandbox said no with.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private let sandbox: LocalSandbox

    var url: String { sandbox.issuer.text }

    /// Serves while `body` runs.
    @MainActor
    static func run(_ body: (TestIssuer) async throws -> Void) async throws {
        try await LocalSandbox.run(isPushing: true) { sandbox in try await body(TestIssuer(sandbox: sandbox)) }
    }

    func enrollmentCode() async throws -> String {
        try await call("/sandbox/enrollment-codes", [:]).string("code")
    }

    /// - Returns: the acsTransId.
    @discardableResult
    func purchase(_ members: JSONObject = [:]) async throws -> String {
        try await call("/sandbox/purchases", members).string("acsTransId")
    }

    /// The payer leaves the merchant's page.
    func cancel(_ acsTransId: String) async throws {
        _ = try await call("/sandbox/purchases/\(acsTransId)/cancel", [:])
    }

    /// How a purchase stands: `pending`, `authenticated`, `notAuthenticated` and others.
    func status(_ acsTransId: String) async throws -> String {
        let answer = await sandbox.router.answer(to: Call("GET", "/sandbox/purchases/\(acsTransId)"))
        return try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576)).string("status")
    }

    /// As ``status(_:)``, once it is completed.
    func completion(_ acsTransId: String) async throws -> String {
        while true {
            let call = Call("GET", "/sandbox/purchases/\(acsTransId)", query: ["wait": "60"])
            let answer = await sandbox.router.answer(to: call)
            let timeline = try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576))
            let status = try timeline.string("status")
            if status != "pending" { return status }
        }
    }

    /// The message about a purchase, as whoever pushes it without Web Push would have it.
    func message(_ acsTransId: String) async throws -> String {
        let jws = try await sandbox.backend.store.queue.read { db in
            try String.fetchOne(
                db,
                sql: "SELECT jws FROM authnRequest WHERE purchaseId = (SELECT id FROM purchase WHERE acsTransId = ?)",
                arguments: [acsTransId])
        }
        return try #require(jws)
    }

    /// Ends all authenticators, as a bank does with a telephone that was lost.
    func revokeAll() async throws {
        let ids = try await sandbox.backend.store.queue.read { db in
            try String.fetchAll(db, sql: "SELECT id FROM authenticator WHERE endedAt IS NULL")
        }
        for id in ids { _ = try await call("/sandbox/authenticators/\(id)/revoke", [:]) }
    }

    /// Has the next calls go wrong.
    func plan(_ faults: JSONObject) async throws { _ = try await call("/sandbox/faults", faults) }

    private func call(_ path: String, _ body: JSONObject) async throws -> JSONObject {
        let answer = await sandbox.router.answer(to: Call("POST", path, body: JSONValue.object(body).serialized()))
        guard (200...201).contains(answer.status) else {
            throw Refusal(description: "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576))
    }
}
