import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import Synchronization
import WebAuthn

/// An issuer of the kit's own: it lists what a case wants, and keeps what an approver sends.
final class KitIssuer: Sendable {
    /// The `kid` of its key.
    static let keyID = "key-1"
    static let relyingParty = "localhost"
    /// As the protocol has it: the most requests of one answer.
    static let maxListed = 100

    let url: IssuerURL
    let key: SigningKey
    /// One that is never published under ``keyID``.
    let otherKey: SigningKey
    private let secrets: KnownSecrets
    private let state: Mutex<KitState>

    /// - Parameter secrets: gets each code and token that it makes.
    init(port: Int, secrets: KnownSecrets) throws {
        url = try IssuerURL("http://\(Self.relyingParty):\(port)")
        self.secrets = secrets
        let code = try Self.newCode()
        secrets.add(code)
        state = Mutex(KitState(code: code))
        key = try SigningKey.generate(.es256)
        otherKey = try SigningKey.generate(.es256)
    }

    private static func newCode() throws(OpenSSLError) -> String { Base64URL.encode(try SecureRandom.bytes(9)) }

    var code: String { state.withLock { $0.code } }

    /// What hands the code out.
    var link: String {
        "oob-enroll:?issuer=\(PercentEncoding.encode(url.text))&code=\(PercentEncoding.encode(code))"
    }

    /// Who enrolled last.
    var member: KitMember? { state.withLock { $0.member } }

    /// Why an enrollment did not hold, if one came.
    var enrollmentProblem: String? { state.withLock { $0.enrollmentProblem } }

    /// All decisions that came, in their order.
    var decisions: [KitDecision] { state.withLock { $0.decisions } }

    /// Lists messages at once, so that one answer has them all.
    func list(_ messages: [KitMessage]) {
        state.withLock { state in
            for message in messages {
                state.position += 1
                state.listed.append((position: state.position, message: message))
            }
        }
    }

    /// Changes what it does.
    func set(_ change: (inout KitState) -> Void) { state.withLock { change(&$0) } }

    /// Makes a code for one more enrollment.
    func renewCode() throws {
        let code = try Self.newCode()
        secrets.add(code)
        state.withLock { $0.code = code }
    }

    /// The names of the keys that are published.
    var keyNames: [String] { state.withLock { $0.published } }

    /// The key of a name: its own, or the other one.
    func key(named name: String) -> SigningKey { name == Self.keyID ? key : otherKey }

    /// Notes a call, and says what it is answered instead of what the protocol says.
    func note(_ call: KitCall) -> KitScript? {
        state.withLock { state in
            if state.calls.count < KitCall.limit, state.keeps(call.body.count) { state.calls.append(call) }
            guard var scripts = state.scripts[call.endpoint], !scripts.isEmpty else { return nil }
            let script = scripts.removeFirst()
            state.scripts[call.endpoint] = scripts
            return script
        }
    }

    var calls: [KitCall] { state.withLock { $0.calls } }

    // MARK: Its calls

    func discovery() -> KitAnswer {
        var document =
            Discovery(
                issuer: url, jwksUri: url.text + "/jwks.json", enrollmentOptionsEndpoint: url.text + "/options",
                enrollmentsEndpoint: url.text + "/enrollments", authnRequestsEndpoint: url.text + "/authn-requests",
                authenticatorEndpoint: url.text + "/authenticator"
            ).json
        if state.withLock({ $0.hasBatchFetch }) { document["batchFetchEndpoint"] = .string(url.text + "/batch-fetch") }
        for member in state.withLock({ $0.discovery }).members { document[member.name] = member.value }
        return .json(200, document)
    }

    func keys() -> KitAnswer {
        let (names, members) = state.withLock { ($0.published, $0.keyMembers) }
        let keys = names.map { name in
            var jwk = JWKSet.jwk(kid: name, key: key(named: name).publicKey) ?? [:]
            for member in members.members { jwk[member.name] = member.value == .null ? .none : member.value }
            return JSONValue.object(jwk)
        }
        return .json(200, ["keys": .array(keys)])
    }

    func options(_ body: [UInt8]) throws -> KitAnswer {
        guard let request = try? EnrollmentOptionsRequest(bytes: body) else { return .problem(.invalidRequest) }
        guard request.enrollmentCode.reveal() == code else { return .problem(.invalidEnrollmentCode) }
        let (ceremony, challenge) = (Base64URL.encode(try SecureRandom.bytes(12)), try SecureRandom.bytes(32))
        let user = try SecureRandom.bytes(16)
        let isKept = state.withLock { state in
            guard state.ceremonies.count < KitCall.limit else { return false }
            state.ceremonies[ceremony] = KitCeremony(challenge: challenge, userId: user)
            return true
        }
        guard isKept else { return KitAnswer(status: 503) }
        let options = PublicKeyCredentialCreationOptions(
            rpId: Self.relyingParty, rpName: "Conformance kit", userId: user, userName: "cardholder",
            userDisplayName: "Cardholder", challenge: challenge,
            pubKeyCredParams: SignatureAlgorithm.allCases.map(\.rawValue))
        var json = options.json
        for member in state.withLock({ $0.options }).members {
            json[member.name] = member.value == .null ? .none : member.value
        }
        return .json(200, ["ceremonyId": .string(ceremony), "publicKey": .object(json)])
    }

    func enroll(_ body: [UInt8]) throws -> KitAnswer {
        let request: EnrollmentRequest
        do { request = try EnrollmentRequest(bytes: body) } catch {
            state.withLock { $0.enrollmentProblem = "\(error)" }
            return .problem(.invalidRequest)
        }
        guard let ceremony = state.withLock({ $0.ceremonies[request.ceremonyId] }) else {
            return .problem(.ceremonyExpired)
        }
        if let given = ceremony.answer(to: body) { return given }
        do {
            let verified = try RegistrationVerifier.verify(
                request.credential, challenge: ceremony.challenge, origin: url.text, rpId: Self.relyingParty,
                userVerificationRequired: false, algorithms: SignatureAlgorithm.allCases.map(\.rawValue))
            let (answer, token) = try state.withLock { state in
                let answer = try state.enroll(
                    verified, userId: ceremony.userId, ceremony: request.ceremonyId, body: body)
                return (answer, state.member?.token)
            }
            if let token { secrets.add(token) }
            return answer
        } catch let error as VerificationError {
            state.withLock { $0.enrollmentProblem = error.description }
            return .problem(.invalidRegistration)
        }
    }

    /// The list for a token, from behind a cursor; nil if there is nothing yet and `after` was given.
    func requests(of token: String?, after: String?) -> KitAnswer? {
        state.withLock { state in
            guard state.isEnrolled(token) else { return .problem(.invalidToken) }
            guard let position = state.position(of: after) else { return .problem(.unknownCursor) }
            if let new = state.listed(after: position) { return .requests(new.messages, cursor: new.position) }
            return after == nil ? .requests([], cursor: 0) : nil
        }
    }

    /// The answer to a batch fetch; nil if there is nothing to say yet.
    func batch(_ request: BatchFetchRequest) -> KitAnswer? {
        let results = state.withLock { state in
            request.entries.compactMap { entry -> BatchFetchAnswer.Result? in
                func result(_ outcome: BatchFetchAnswer.Outcome) -> BatchFetchAnswer.Result {
                    BatchFetchAnswer.Result(authenticatorId: entry.authenticatorId, outcome: outcome)
                }
                guard state.isEnrolled(entry.accessToken.reveal()) else { return result(.problem(.invalidToken)) }
                guard let position = state.position(of: entry.after) else { return result(.problem(.unknownCursor)) }
                if let new = state.listed(after: position) {
                    return result(.list(RequestList(requests: new.messages, cursor: String(new.position))))
                }
                return entry.after == nil ? result(.list(RequestList(requests: [], cursor: "0"))) : nil
            }
        }
        return results.isEmpty ? nil : .json(200, BatchFetchAnswer(results: results).json)
    }

    /// The answer to a poll that found nothing.
    func nothing(after: String?) -> KitAnswer { .requests([], cursor: after.flatMap { Int($0) } ?? 0) }

    func decide(_ jti: String, of token: String?, _ body: [UInt8]) -> KitAnswer {
        state.withLock { state in
            guard state.isEnrolled(token) else { return .problem(.invalidToken) }
            if let earlier = state.decisions.first(where: { $0.jti == jti && $0.answer.status == 200 }) {
                let isSame = earlier.body == body
                return isSame ? earlier.answer : .problem(.alreadyDecided)
            }
            guard state.decisions.count < KitCall.limit, state.keeps(body.count) else {
                return KitAnswer(status: 503)
            }
            let decision = state.judged(jti, body, origin: url.text)
            state.decisions.append(decision)
            if decision.answer.status == 200 { state.listed.removeAll { $0.message.jti == jti } }
            return decision.answer
        }
    }

    func status(of token: String?) -> KitAnswer {
        state.withLock { state in
            guard state.isEnrolled(token), let member = state.member else { return .problem(.invalidToken) }
            return .json(200, AuthenticatorStatus(authenticatorId: member.id, signCount: member.signCount).json)
        }
    }

    func unenroll(_ token: String?) -> KitAnswer {
        state.withLock { state in
            guard state.isEnrolled(token) else { return .problem(.invalidToken) }
            state.member = nil
            return KitAnswer(status: 204)
        }
    }
}
