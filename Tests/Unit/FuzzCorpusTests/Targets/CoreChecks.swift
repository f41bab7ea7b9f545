import Authenticator
import Custody
import FoundationEssentials
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import SQLiteStore
import StoreTables
import StrictJSON
import Synchronization
import TextAndTime
import ThreeDS

/// What an issuer signed, taken in by the whole core with a database behind it: by push, by poll, and decided.
///
/// Whatever the claims are, the agent goes on, what it presents can be shown, and what it keeps is bounded.
enum CoreChecks {
    /// Each agent takes that many inputs, so that no quota is reached and its database stays small.
    private static let maxInputs = 500
    private static let inUse = Mutex<(agent: FuzzedAgent, inputs: Int)?>(nil)

    /// The bytes are the claims of a request, and of a cancellation.
    static func received(_ input: [UInt8]) async throws {
        let agent = try await agent()
        for claims in [input, repaired(input)].compactMap(\.self) {
            for type in [CompactJWS.MessageType.authnRequest, .cancellation] {
                try await agent.push(try agent.signed(claims, type))
                try await agent.poll(try agent.signed(claims, type))
            }
        }
        try await agent.checkAll()
    }

    private static func agent() async throws -> FuzzedAgent {
        let known = inUse.withLock { state -> FuzzedAgent? in
            guard let used = state, used.inputs < maxInputs else { return nil }
            state = (used.agent, used.inputs + 1)
            return used.agent
        }
        if let known { return known }
        let agent = try await FuzzedAgent()
        inUse.withLock { $0 = (agent, 1) }
        return agent
    }

    /// The same claims, for this enrollment and with the challenge that belongs to them; nil for what are no claims.
    private static func repaired(_ input: [UInt8]) -> [UInt8]? {
        let limits = JSONLimits(maxBytes: AuthnRequestReader.maxBytes)
        guard var claims = try? JSONReader.object(input, limits: limits) else { return nil }
        claims["iss"] = .string(FuzzedAgent.issuer)
        claims["aud"] = .string(FuzzedAgent.authenticatorId)
        if let nonce = try? claims.base64url("nonce", bytes: 0...128),
            let transaction = try? claims.object("transaction"), var options = try? claims.object("publicKey"),
            let challenge = try? ChallengeCommitment.challenge(nonce: nonce, transaction: transaction)
        {
            options["challenge"] = .string(Base64URL.encode(challenge))
            claims["publicKey"] = .object(options)
        }
        return claims.serialized()
    }
}

/// An agent with a database and keys in a directory of its own, and one enrollment that takes pushes.
private final class FuzzedAgent: Sendable {
    static let issuer = "https://issuer.example"
    static let authenticatorId = "authenticator-1"
    private static let endpoint = "https://push.example.net/push/" + String(repeating: "A", count: 43)

    private let directory: URL
    private let agent: Agent
    private let enrollment: EnrollmentID
    private let issuerKey: SigningKey
    private let recipient: PushRecipient
    private let gateway: ListingIssuer

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "oob-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let (clock, entropy) = (StandingClock(), OpenSSLEntropy())
        let secret = try AgentSecret.generate()
        let custody = SealedKeyCustody(secret: secret)
        let sealing = SecretSealer(secret: secret)
        let store = try SQLiteDatabase(
            path: directory.appending(path: "store.sqlite").path, dataKeys: DataKeySealer(secret: secret))
        issuerKey = try SigningKey.generate(.es256)
        gateway = ListingIssuer(keys: JWKSet(keys: [("key-1", issuerKey.publicKey)]))
        // Everything is judged by the claims alone: nobody sends too much here.
        var rates = PushRates()
        (rates.ofEndpoint, rates.inAll) = (60_000, 6_000_000)
        agent = Agent(
            ports: Ports(
                store: store, custody: custody, sealing: sealing, auditKeys: SealedAuditKeys(secret: secret),
                gateway: gateway, clock: clock, entropy: entropy),
            settings: AgentSettings(
                exponentPolicy: .warn, version: "1",
                push: try PushSettings(url: "https://push.example.net", isVAPIDUpstream: true, rates: rates)),
            log: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
        guard let id = EnrollmentID(String(repeating: "a", count: 20)) else {
            throw Broken(description: "an id is one")
        }
        enrollment = id
        let key = try await custody.makeKey(of: id, algorithm: .es256, pin: nil)
        recipient = try await Self.enroll(id, key: key, in: store, sealing: sealing, at: clock.now)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private static func enroll(
        _ id: EnrollmentID, key: MadeKey, in store: SQLiteDatabase, sealing: SecretSealer, at now: Int64
    ) async throws -> PushRecipient {
        guard let authenticatorId = TokenID(authenticatorId), let token = AccessToken("token") else {
            throw Broken(description: "an id is one")
        }
        let sealed = try sealing.seal(token, for: id)
        let enrollment = Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL(issuer), rootsPEM: nil), name: "card",
            authnType: .presence, algorithm: -7, rpId: "issuer.example", credentialId: Array("credential-1".utf8),
            userHandle: Array("user".utf8), startedAt: now, key: .own, credentialKey: key.publicKey,
            sealedKey: key.sealed, signCount: 0,
            state: .active(Membership(authenticatorId: authenticatorId, sealedToken: sealed, enrolledAt: now)))
        let pushKey = try PushReceiverKey.generate()
        let subscription = KeptSubscription(
            enrollmentId: id, tokenDigest: try SHA256Digest.of(Array(endpoint.utf8.suffix(43))),
            endpoint: try PushEndpoint(endpoint), sealedKey: try sealing.seal(pushKey, for: id),
            vapidKey: key.publicKey.material.p256Point ?? [], isRegistered: true)
        try await store.write { store in
            try store.insert(enrollment)
            try store.insert(subscription)
        }
        return pushKey.recipient
    }

    func signed(_ claims: [UInt8], _ type: CompactJWS.MessageType) throws -> String {
        let input = CompactJWS.signingInput(kid: "key-1", typ: type.rawValue, payload: claims)
        return CompactJWS.compact(signingInput: input, signature: try issuerKey.rawSignature(over: input))
    }

    /// By Web Push; a message that is too long for one is a notification of another system's.
    func push(_ message: String) async throws {
        guard let reception = agent.pushReception, let enrollment = try await agent.enrollment(enrollment) else {
            throw Broken(description: "the agent takes pushes")
        }
        guard message.utf8.count <= PushRecipient.maxPlain else {
            _ = try await reception.receive(message: message, for: enrollment)
            return
        }
        let target = try await reception.target("/push/" + String(repeating: "A", count: 43))
        _ = try await reception.receive(
            PushFields([("TTL", "0"), ("Content-Encoding", "aes128gcm")]),
            body: try recipient.encrypt(Array(message.utf8)), at: target)
    }

    func poll(_ message: String) async throws {
        gateway.list(message)
        let failures = try await agent.fetch(enrollment)
        try mustHold(failures.isEmpty, "what an issuer lists can be fetched")
    }

    /// What was kept can be shown and counted, and what is presented be decided.
    func checkAll() async throws {
        let newest = try await agent.requests(pendingOnly: false, enrollment: nil, limit: 4)
        for request in newest {
            let isPending = request.life == .pending
            let text = try await agent.text(of: request)
            try mustHold(!isPending || text != nil, "what is presented can be shown")
            let times = [request.iat, request.exp].compactMap(\.self)
            try mustHold(times.allSatisfy { (0...253_402_300_799).contains($0) }, "times are bounded")
            guard isPending else { continue }
            let denied = try await agent.decide(
                .deny(.userDenied), on: request.id, expecting: Expectations(),
                by: .command(ControlPeer(uid: 1, gid: 1, pid: 1, process: "fuzz"), shownTextDigest: nil))
            try mustHold(denied.life != .pending, "what is presented can be decided")
        }
        let figures = await agent.figures()
        try mustHold(figures.isStoreHealthy, "the database is in order")
        guard let now = try await agent.enrollment(enrollment) else { throw Broken(description: "it is enrolled") }
        let latency = agent.pushFacts(of: now)?.latency ?? 0
        try mustHold(latency >= 0, "no push is early")
    }
}

/// The time at which all seeds are read.
private struct StandingClock: AgentClock {
    var now: Int64 { 1_697_522_200 }

    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }
}

private struct OpenSSLEntropy: Entropy {
    func bytes(_ count: Int) throws -> [UInt8] { try SecureRandom.bytes(count) }
}

/// Lists one message, and can do nothing else.
private final class ListingIssuer: IssuerGateway {
    private let listed = Mutex("")
    private let keySet: JWKSet

    init(keys: JWKSet) { keySet = keys }

    func list(_ message: String) { listed.withLock { $0 = message } }

    func problem(withRoots pem: String) -> String? { nil }

    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        let base = target.issuer.text
        return Discovery(
            issuer: target.issuer, jwksUri: "\(base)/jwks.json", enrollmentOptionsEndpoint: "\(base)/options",
            enrollmentsEndpoint: "\(base)/enrollments", authnRequestsEndpoint: "\(base)/requests",
            authenticatorEndpoint: "\(base)/authenticator")
    }

    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet { keySet }

    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList {
        RequestList(requests: [listed.withLock(\.self)], cursor: "c")
    }

    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus { throw Self.none }

    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer { throw Self.none }

    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer { throw Self.none }

    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer { throw Self.none }

    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus { throw Self.none }

    func unenroll(_ access: IssuerAccess) async throws(IssuerError) { throw Self.none }

    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError) {
        throw Self.none
    }

    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError) { throw Self.none }

    private static let none = IssuerError.transient(reason: "nothing else is done here", retryAfter: nil)
}
