import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Synchronization
import Testing
import WebAuthn

/// A sandbox without a socket, on a clock that the test moves.
final class TestIssuer: Sendable {
    static let start: Int64 = 1_697_522_198

    let backend: IssuerBackend
    let site: IssuerSite
    private let router: SandboxRouter
    private let clock: Clock

    /// - Parameter waitsEnd: whether a long poll's time is over at once; else only news end it.
    init(
        waitsEnd: Bool = true, database: String? = nil, maxWaiters: Int = 100, faults: String? = nil,
        pushPolicy: PushPolicy = .loopbackOnly, hasTestClock: Bool = false
    ) throws {
        let clock = Clock()
        let dependencies = SandboxDependencies(
            now: { clock.now },
            sleep: { length in
                clock.note(nap: length)
                if !waitsEnd { try await Task.sleep(for: .seconds(3_600)) }
            },
            random: { count in try SecureRandom.bytes(count) })
        site = IssuerSite(issuer: try IssuerURL("http://localhost:8080"))
        backend = IssuerBackend(
            store: try SandboxStore(path: database, dependencies: dependencies, hasTestClock: hasTestClock),
            signer: try IssuerSigner(
                key: Self.key(for: .requests, database), pushKey: Self.key(for: .vapid, database)),
            site: SiteHolder(site), dependencies: dependencies, maxWaiters: maxWaiters,
            faults: try faults.map { text in try FaultSpec(text) }, pushPolicy: pushPolicy)
        router = SandboxRouter(backend: backend)
        self.clock = clock
    }

    private static func key(for use: IssuerKeyFile.Use, _ database: String?) throws -> SigningKey {
        guard let database else { return try SigningKey.generate(.es256) }
        return try IssuerKeyFile.key(for: use, besideDatabase: database)
    }

    var now: Int64 { clock.now }
    /// What was slept for, in order.
    var naps: [Duration] { clock.naps }
    func pass(seconds: Int64) { clock.pass(seconds) }

    func call(
        _ method: String, _ path: String, query: [String: String] = [:], token: String? = nil,
        traceparent: String? = nil, body: [UInt8] = []
    ) async -> Reply {
        let call = Call(
            method, path, query: query, authorization: token.map { "Bearer \($0)" }, traceparent: traceparent,
            body: body)
        return Reply(await router.answer(to: call))
    }

    func post(_ path: String, _ body: JSONObject = [:], token: String? = nil) async -> Reply {
        await call("POST", path, token: token, body: body.serialized())
    }

    /// A code as it is handed out; the call must succeed.
    func code(_ options: JSONObject = [:]) async throws -> String {
        try await post("/sandbox/enrollment-codes", options).object.string("code")
    }

    /// The options for a new code.
    func options(_ options: JSONObject = [:]) async throws -> EnrollmentOptionsAnswer {
        try await self.options(code: code(options))
    }

    /// The options for a code.
    func options(code: String) async throws -> EnrollmentOptionsAnswer {
        try await optionsAnswer(code: code).decoded { try EnrollmentOptionsAnswer(bytes: $0, from: site.issuer) }
    }

    func optionsAnswer(code: String) async -> Reply {
        await post("/v1/enrollment-options", ["enrollmentCode": .string(code)])
    }

    /// A software authenticator that is enrolled.
    func enrolled(
        _ options: JSONObject = [:], algorithm: SignatureAlgorithm = .es256
    ) async throws -> SoftwareAuthenticator {
        let ceremony = try await self.options(options)
        let authenticator = try SoftwareAuthenticator(site: site, algorithm: algorithm)
        let body = try authenticator.enrollment(ceremony, packed: ceremony.options.attestation != .none)
        let reply = await call("POST", "/v1/enrollments", body: body)
        try #require(reply.status == 201, "\(reply)")
        return authenticator.enrolled(as: try reply.decoded(EnrollmentAnswer.init(bytes:)))
    }

    /// A purchase's story as the call that started it answers.
    func purchase(_ members: JSONObject = [:]) async throws -> PurchaseView {
        let reply = await post("/sandbox/purchases", members)
        try #require(reply.status == 201, "\(reply)")
        return try PurchaseView(reply.object)
    }

    func timeline(_ purchase: PurchaseView) async throws -> PurchaseView {
        let reply = await call("GET", "/sandbox/purchases/\(purchase.acsTransId)")
        try #require(reply.status == 200, "\(reply)")
        return try PurchaseView(reply.object)
    }

    func decide(_ jti: String, _ body: [UInt8], by authenticator: SoftwareAuthenticator) async -> Reply {
        await call("POST", "/v1/authn-requests/\(jti)/decision", token: authenticator.token, body: body)
    }

    /// What is listed now.
    func listed(_ authenticator: SoftwareAuthenticator) async throws -> RequestList {
        let reply = await call("GET", "/v1/authn-requests", token: authenticator.token)
        return try reply.decoded(RequestList.init(bytes:))
    }
}

private final class Clock: Sendable {
    private let seconds = Mutex(TestIssuer.start)
    private let slept = Mutex<[Duration]>([])
    var now: Int64 { seconds.withLock { $0 } }
    var naps: [Duration] { slept.withLock { $0 } }
    func note(nap length: Duration) { slept.withLock { $0.append(length) } }
    func pass(_ seconds: Int64) { self.seconds.withLock { $0 += seconds } }
}

/// An answer, read.
struct Reply: CustomStringConvertible {
    private let answer: Answer

    init(_ answer: Answer) { self.answer = answer }

    var status: Int { answer.status }
    var bytes: [UInt8] { answer.body }
    var retryAfter: Int64? { answer.retryAfter }
    var allow: String? { answer.allow }
    var transmission: Transmission { answer.transmission }

    var object: JSONObject {
        get throws { try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 4_194_304)) }
    }

    /// The problem's code as a token; nil for anything but a problem with a code that the protocol lists.
    var code: String? {
        Problem(bytes: answer.body, contentType: answer.contentType)?.code?.rawValue
    }

    /// Status and code, as one text to compare: `410 expired`, `200`.
    var outcome: String { code.map { "\(status) \($0)" } ?? "\(status)" }

    var detail: String? { (try? object)?["detail"].flatMap { if case .string(let text) = $0 { text } else { nil } } }

    func decoded<Message>(_ read: ([UInt8]) throws -> Message) throws -> Message {
        try #require(status < 300, "\(self)")
        return try read(answer.body)
    }

    var description: String { "\(status) \(String(decoding: answer.body, as: UTF8.self))" }
}

/// A purchase's story, read.
struct PurchaseView {
    let json: JSONObject
    let acsTransId: String
    let status: String
    let requests: [RequestView]

    init(_ json: JSONObject) throws {
        self.json = json
        acsTransId = try json.string("acsTransId")
        status = try json.string("status")
        requests = try json.array("requests").map { try RequestView($0) }
    }

    /// The one request, or the first.
    var request: RequestView { get throws { try #require(requests.first) } }

    /// The values of one data element in the messages of one type, in order; what a message lacks is nil.
    func element(_ name: String, of messageType: String) throws -> [JSONValue?] {
        try json.array("messages").compactMap { message -> JSONObject? in
            guard case .object(let object) = message, object["messageType"] == .string(messageType) else { return nil }
            return object
        }.map { $0[name] }
    }

    var messageTypes: [String] {
        get throws {
            try json.array("messages").compactMap { message in
                guard case .object(let object) = message else { return nil }
                return try object.optionalString("messageType") ?? object.string("step")
            }
        }
    }
}

/// One request of a purchase.
struct RequestView {
    let jti: String
    let jws: String
    let state: String
    let json: JSONObject
    let challenge: [UInt8]

    init(_ value: JSONValue) throws {
        guard case .object(let json) = value else { throw NotAnObject() }
        self.json = json
        jti = try json.string("jti")
        jws = try json.string("jws")
        state = try json.string("state")
        let claims = try JSONReader.object(
            CompactJWS.parse(jws).payload, limits: JSONLimits(maxBytes: 65_536))
        challenge = try claims.object("publicKey").base64url("challenge", bytes: 32...32)
    }

    struct NotAnObject: Error {}
}
