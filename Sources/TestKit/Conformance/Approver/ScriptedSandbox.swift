import IssuerProtocol
import Keys
import Logging
import Sandbox
import StrictJSON
import Synchronization
import TextAndTime

/// The sandbox as the issuer of one case.
///
/// It lists the case's messages, gives scripted answers, and records the approver's calls.
final class ScriptedSandbox: Sendable {
    /// The `kid` of the published key, unless a case publishes others.
    static let keyID = "key-1"
    static let relyingParty = "localhost"

    let url: IssuerURL
    let key: SigningKey
    /// A key that is never published under ``keyID``.
    let otherKey: SigningKey
    private let secrets: KnownSecrets
    private let backend: IssuerBackend
    private let router: SandboxRouter
    private let state = Mutex(SandboxScript())

    /// - Parameter secrets: receives each code and token that the sandbox makes.
    init(port: Int, secrets: KnownSecrets) throws {
        url = try IssuerURL("http://\(Self.relyingParty):\(port)")
        self.secrets = secrets
        key = try SigningKey.generate(.es256)
        otherKey = try SigningKey.generate(.es256)
        backend = IssuerBackend(
            store: try SandboxStore(path: nil, dependencies: .system),
            signer: try IssuerSigner(key: key, pushKey: otherKey), site: SiteHolder(IssuerSite(issuer: url)),
            logger: Logger(label: "oob-conform") { _ in SwiftLogNoOpLogHandler() })
        router = SandboxRouter(backend: backend)
    }

    var member: EnrolledApprover? { state.withLock { $0.member } }

    var enrollmentProblem: String? { state.withLock { $0.enrollmentProblem } }

    var calls: [ApproverCall] { state.withLock { $0.calls } }

    /// The decisions with an answer, in order.
    var decisions: [JudgedDecision] { calls.compactMap(JudgedDecision.init) }

    /// The names of the published keys.
    var keyNames: [String] { state.withLock { $0.published } }

    /// Returns the key with a name: the issuer's own for ``keyID``, else the other one.
    func key(named name: String) -> SigningKey { name == Self.keyID ? key : otherKey }

    /// Changes the script.
    func set(_ change: (inout SandboxScript) -> Void) { state.withLock { change(&$0) } }

    /// Makes an enrollment code, and lets an approver use it.
    ///
    /// - Parameter enroll: receives the input of a command, as JSON and as environment variables.
    func invite<Value>(_ enroll: (JSONObject, [String: String]) async throws -> Value) async throws -> Value {
        let made = try await object(Call("POST", SandboxRoutes.enrollmentCodes))
        let (code, link) = (try made.string("code"), try made.string("link"))
        secrets.add(code)
        return try await enroll(
            ["issuer": .string(url.text), "code": .string(code), "link": .string(link)],
            ["ISSUER": url.text, "CODE": code, "LINK": link])
    }

    /// Lists messages in one transaction, so that one answer has all of them.
    func list(_ messages: [PreparedMessage]) async throws {
        guard let member else { return }
        try await backend.list(messages, for: member.id.text)
    }

    func withdraw(_ jti: String) async throws { try await backend.withdraw(jti) }

    /// Ends the enrollment: `401 invalid_token` from now on.
    func endEnrollment() async throws {
        guard let member else { return }
        _ = try await object(Call("POST", "\(SandboxRoutes.authenticators)/\(member.id.text)/revoke"))
    }

    func raiseSignCount(by more: UInt32) async throws {
        guard let member else { return }
        try await backend.raiseSignCount(of: member.id.text, by: more)
    }

    /// Ends the waiting polls.
    func endWaits() { backend.notifier.endAll() }

    /// Answers a call of an approver, which may use only the protocol's paths.
    func answer(to call: Call) async -> Answer {
        guard !call.path.hasPrefix(SandboxRoutes.prefix) else { return Answer(status: 404) }
        guard let endpoint = CaseEndpoint(call) else { return await router.answer(to: call) }
        let (number, script) = state.withLock { $0.record(ApproverCall(endpoint, call)) }
        if let script, !script.isTaken { return script.answer }
        let answer = await router.answer(to: call)
        if endpoint == .enrollments { await record(answer) }
        if let number { state.withLock { $0.keep(answer, to: number) } }
        return script?.answer ?? changed(answer, of: endpoint)
    }

    /// Records the enrollment, or the reason why it failed.
    private func record(_ answer: Answer) async {
        guard answer.status == 201 else {
            let problem = Problem(bytes: answer.body, contentType: answer.contentType)
            return state.withLock { $0.enrollmentProblem = problem?.detail ?? "HTTP \(answer.status)" }
        }
        guard let given = try? EnrollmentAnswer(bytes: answer.body) else { return }
        secrets.add(given.accessToken.reveal())
        let path = "\(SandboxRoutes.authenticators)/\(given.authenticatorId.text)"
        guard let record = try? await object(Call("GET", path)),
            let credentialId = (try? record.string("credentialId")).flatMap(Base64URL.decode),
            let authnType = try? record.string("authnType")
        else { return }
        let member = EnrolledApprover(
            id: given.authenticatorId, credentialId: credentialId,
            canVerifyUser: authnType != AuthnType.presence.rawValue)
        state.withLock { $0.member = member }
    }

    /// Applies the case's changes to an answer of the sandbox.
    private func changed(_ answer: Answer, of endpoint: CaseEndpoint) -> Answer {
        let (changes, published) = state.withLock { ($0.changes[endpoint] ?? [:], $0.published) }
        guard answer.status == 200, var object = try? Self.object(answer) else { return answer }
        switch endpoint {
        case .discovery: object = object.changed(by: changes)
        case .keys:
            let keys = published.map { JWKSet.jwk(kid: $0, key: key(named: $0).publicKey) ?? [:] }
            object["keys"] = .array(keys.map { .object($0.changed(by: changes)) })
        case .options:
            guard case .object(let options)? = object["publicKey"] else { return answer }
            object["publicKey"] = .object(options.changed(by: changes))
        default: return answer
        }
        return .json(200, object)
    }

    /// Makes a call of the kit's own, and returns the object of its answer.
    private func object(_ call: Call) async throws -> JSONObject {
        let answer = await router.answer(to: call)
        guard (200..<300).contains(answer.status) else {
            throw CaseEnd.broken("the sandbox answered \(call.path) with \(answer.status)")
        }
        return try Self.object(answer)
    }

    private static func object(_ answer: Answer) throws -> JSONObject {
        try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: Call.maxBody))
    }
}
