import AgentHost
import Custody
import IssuerLink
import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import StoreTables
import StrictJSON
import TestStores
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records
@testable import Signing

/// The agent's core with its real edges, in this process.
struct LocalAgent: Sendable {
    /// No call to an issuer takes too long, however slow the machine is.
    private struct CallClock: AgentClock {
        var now: Int64 { SystemClock().now }
        func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
    }

    let agent: Agent
    /// For what else the agent has files for.
    var directory: String { scratch.path }
    private let scratch: ScratchDirectory
    private let ports: Ports
    private let target: IssuerTarget

    /// Runs `body` with an agent in a directory of its own, which does nothing by itself.
    ///
    /// - Parameters:
    ///   - wrapping: what the agent has for the store that it is given.
    ///   - keys: what it has for the custody that it is given.
    ///   - clock: what it has for a clock.
    ///   - push: `nil` if it takes no pushes.
    static func run(
        at issuer: IssuerURL, wrapping: (any Store) -> any Store = { $0 },
        keys: (SealedKeyCustody) -> any KeyCustody = { $0 }, clock: any AgentClock = SystemClock(),
        push: PushSettings? = nil, _ body: (LocalAgent) async throws -> Void
    ) async throws {
        let directory = try ScratchDirectory()
        let gateway = HTTPIssuerGateway(version: "1", network: OutboundNetwork(), clock: CallClock())
        let secret = try AgentSecret(Secret(SecureRandom.bytes(32)))
        let ports = Ports(
            store: wrapping(try openStore(at: directory("agent.db"))),
            custody: keys(SealedKeyCustody(secret: secret)),
            sealing: SecretSealer(secret: secret), auditKeys: SealedAuditKeys(secret: secret), gateway: gateway,
            clock: clock, entropy: SystemEntropy())
        let agent = Agent(
            ports: ports, settings: AgentSettings(version: "1", push: push),
            log: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
        let result: Result<Void, any Error>
        do {
            let target = IssuerTarget(issuer: issuer, rootsPEM: nil)
            result = .success(
                try await body(LocalAgent(agent: agent, scratch: directory, ports: ports, target: target)))
        } catch {
            result = .failure(error)
        }
        await gateway.shutdown()
        try result.get()
    }

    /// Puts enrollments into the store as after their ceremonies; they have no keys.
    func addEnrollments(_ members: [SampleMember]) async throws -> [Enrollment] {
        let enrollments = try members.map { member in
            let id = try EnrollmentID(random: ports.entropy)
            let token = try #require(AccessToken(member.token))
            let membership = Membership(
                authenticatorId: try #require(TokenID(member.authenticatorId)),
                sealedToken: try ports.sealing.seal(token, for: id), enrolledAt: 0)
            return Enrollment(
                id: id, target: target, name: "card", authnType: .presence, algorithm: -7, rpId: "localhost",
                credentialId: member.credentialId, userHandle: [1], startedAt: 0, signCount: 0,
                state: .active(membership))
        }
        try await ports.store.write { store in
            for enrollment in enrollments { try store.insert(enrollment) }
        }
        return enrollments
    }

    /// Puts a push subscription into the store, as the issuer has it.
    func addSubscription(
        of enrollment: Enrollment, key: PushReceiverKey, endpoint: PushEndpoint, vapidKey: [UInt8]
    ) async throws {
        let kept = KeptSubscription(
            enrollmentId: enrollment.id, tokenDigest: try SHA256Digest.of(Array(endpoint.text.utf8.suffix(43))),
            endpoint: endpoint, sealedKey: try ports.sealing.seal(key, for: enrollment.id), vapidKey: vapidKey,
            isRegistered: true)
        try await ports.store.write { try $0.insert(kept) }
    }

    /// Puts a pending request into the store, and returns it.
    func addRequest(of enrollment: Enrollment) async throws -> RequestRecord {
        let now = ports.clock.now
        let acsTransId = "2f37539c-d82e-4929-88db-000000000001"
        let payload: JSONObject = [
            "nonce": .string(Base64URL.encode(Array(0..<16))),
            "transaction": ["merchantName": "CoffeeHouse2", "acsTransId": .string(acsTransId)],
        ]
        let message = "e30.\(Base64URL.encode(JSONValue.object(payload).serialized())).c2ln"
        let presented = PresentedRequest(
            try #require(KeptMessage(message)), transactionDigest: [9, 9], warnings: [])
        let request = RequestRecord(
            id: try RequestID(random: ports.entropy), enrollmentId: enrollment.id,
            jti: try #require(TokenID("request-1")), iat: now, exp: now + 86_400, presented: presented,
            acsTransId: acsTransId, message: message, traceparent: nil, receivedAt: now, life: .pending)
        try await ports.store.write { try $0.insert(request, KeptEvidence()) }
        return request
    }

    /// Waits until a request of the enrollment is pending.
    func pendingRequest(of enrollment: Enrollment) async throws -> RequestRecord {
        let notifier = agent.hub.notifier { $0.kind == .presented }
        let look = { try await ports.store.read { try $0.oldestPending(enrollment: enrollment.id) } }
        if let found = try await look() { return found }
        for await _ in notifier {
            if let found = try await look() { return found }
        }
        throw CancellationError()
    }
}
