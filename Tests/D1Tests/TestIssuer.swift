import Foundation
import GRDB
import Hummingbird
import IssuerProtocol
import Keys
import Logging
import NIOSSL
import StrictJSON
import Testing

@testable import Sandbox

/// A sandbox that serves HTTP on a port of the loopback, in this process, and sends its pushes.
struct TestIssuer: Sendable {
    /// What the sandbox said no with.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    let url: String
    private let backend: IssuerBackend
    private let router: SandboxRouter

    /// Serves while `body` runs.
    @MainActor
    static func run(_ body: (TestIssuer) async throws -> Void) async throws {
        let holder = SiteHolder()
        let logger = Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() }
        let backend = IssuerBackend(
            store: try SandboxStore(path: nil, dependencies: .system),
            signer: try IssuerSigner(key: SigningKey.generate(.es256), pushKey: SigningKey.generate(.es256)),
            site: holder, logger: logger)
        let router = SandboxRouter(backend: backend)
        let sender = PushSender(backend: backend, tls: PushTransport.trusting(nil))
        let (ports, running) = AsyncStream<Int>.makeStream()
        let application = Application(
            responder: IssuerResponder(router: router),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in running.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { try await sender.run() }
            defer { group.cancelAll() }
            for await port in ports {
                let issuer = try IssuerURL("http://localhost:\(port)")
                holder.set(IssuerSite(issuer: issuer))
                return try await body(TestIssuer(url: issuer.text, backend: backend, router: router))
            }
        }
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
        let answer = await router.answer(to: Call("GET", "/sandbox/purchases/\(acsTransId)"))
        return try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576)).string("status")
    }

    /// As ``status(_:)``, once it is completed.
    func completion(_ acsTransId: String) async throws -> String {
        while true {
            let call = Call("GET", "/sandbox/purchases/\(acsTransId)", query: ["wait": "60"])
            let answer = await router.answer(to: call)
            let timeline = try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576))
            let status = try timeline.string("status")
            if status != "pending" { return status }
        }
    }

    /// The message about a purchase, as whoever pushes it without Web Push would have it.
    func message(_ acsTransId: String) async throws -> String {
        let jws = try await backend.store.queue.read { db in
            try String.fetchOne(
                db,
                sql: "SELECT jws FROM authnRequest WHERE purchaseId = (SELECT id FROM purchase WHERE acsTransId = ?)",
                arguments: [acsTransId])
        }
        return try #require(jws)
    }

    /// Ends all authenticators, as a bank does with a telephone that was lost.
    func revokeAll() async throws {
        let ids = try await backend.store.queue.read { db in
            try String.fetchAll(db, sql: "SELECT id FROM authenticator WHERE endedAt IS NULL")
        }
        for id in ids { _ = try await call("/sandbox/authenticators/\(id)/revoke", [:]) }
    }

    /// Has the next calls go wrong.
    func plan(_ faults: JSONObject) async throws { _ = try await call("/sandbox/faults", faults) }

    private func call(_ path: String, _ body: JSONObject) async throws -> JSONObject {
        let answer = await router.answer(to: Call("POST", path, body: JSONValue.object(body).serialized()))
        guard (200...201).contains(answer.status) else {
            throw Refusal(description: "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_048_576))
    }
}
