import IssuerProtocol
import Keys
import StrictJSON
import WebAuthn

/// A message that the kit lists, with what it needs to judge the answer.
struct KitMessage: Sendable {
    /// Nil if there is nothing to answer to.
    let jti: String?
    let jws: String
    /// What was asked, if it is in order.
    let request: AuthnRequest?
}

/// Who has enrolled with the kit.
struct KitMember: Sendable {
    let id: TokenID
    let token: String
    let credentialId: [UInt8]
    let publicKey: PublicKey
    let userId: [UInt8]
    /// Whether it verified its user when it enrolled.
    let canVerifyUser: Bool
    var signCount: UInt32
}

/// A decision as it came, and what the kit made of it.
struct KitDecision: Sendable {
    let jti: String
    let body: [UInt8]
    /// Nil if it could not be read.
    let message: DecisionMessage?
    /// Why it does not hold; nil if it does.
    let problem: String?
    let answer: KitAnswer
}

struct KitCeremony: Sendable {
    let challenge: [UInt8]
    let userId: [UInt8]
    var body: [UInt8]?
    var answer: KitAnswer?

    /// The same bytes get the same answer, others find it over; nil if none came yet.
    func answer(to body: [UInt8]) -> KitAnswer? {
        guard let earlier = self.body else { return nil }
        return earlier == body ? answer : .problem(.ceremonyExpired)
    }
}

/// An answer of the kit's before it goes out.
struct KitAnswer: Sendable {
    let status: Int
    var contentType: String?
    var body: [UInt8] = []
    var retryAfter: Int?
    var location: String?

    static func json(_ status: Int, _ object: JSONObject) -> KitAnswer {
        KitAnswer(status: status, contentType: "application/json", body: object.serialized())
    }

    static func requests(_ messages: [String], cursor: Int) -> KitAnswer {
        .json(200, ["requests": .array(messages.map(JSONValue.string)), "cursor": .string(String(cursor))])
    }

    static func problem(_ code: ProblemCode) -> KitAnswer {
        let problem = Problem(status: code.status, code: code, title: nil, detail: nil)
        return KitAnswer(status: code.status, contentType: Problem.contentType, body: problem.json.serialized())
    }
}

/// What the kit's issuer knows.
struct KitState {
    /// That of the next enrollment; it works once.
    var code: String
    /// Those that are published, by their `kid`.
    var published = [KitIssuer.keyID]
    /// Members of each published key that differ; null removes one.
    var keyMembers: JSONObject = [:]
    /// Whether it has a batch fetch.
    var hasBatchFetch = false
    /// Whether it has ended the enrollment from its side.
    var isEnded = false
    /// Members of the discovery document that differ.
    var discovery: JSONObject = [:]
    /// Members of the creation options that differ.
    var options: JSONObject = [:]
    var scripts: [KitEndpoint: [KitScript]] = [:]
    var calls: [KitCall] = []
    /// Of the bodies that are kept.
    var bytes = 0
    var ceremonies: [String: KitCeremony] = [:]
    var member: KitMember?
    var enrollmentProblem: String?
    var position = 0
    var listed: [(position: Int, message: KitMessage)] = []
    var decisions: [KitDecision] = []

    func isEnrolled(_ token: String?) -> Bool { !isEnded && token != nil && member?.token == token }

    /// Whether there is room to keep a body of so many bytes, which then takes it.
    mutating func keeps(_ count: Int) -> Bool {
        guard bytes + count <= KitCall.maxBytes else { return false }
        bytes += count
        return true
    }

    /// What came behind a position, and the position of its last; nil if nothing did.
    func listed(after position: Int) -> (messages: [String], position: Int)? {
        let new = listed.filter { $0.position > position }.prefix(KitIssuer.maxListed)
        return new.last.map { (new.map(\.message.jws), $0.position) }
    }

    /// Whether a cursor is one that was given out.
    func position(of cursor: String?) -> Int? {
        guard let cursor else { return 0 }
        return Int(cursor).flatMap { (0...position).contains($0) ? $0 : nil }
    }

    mutating func enroll(
        _ verified: VerifiedRegistration, userId: [UInt8], ceremony: String, body: [UInt8]
    ) throws -> KitAnswer {
        let id = Base64URL.encode(try SecureRandom.bytes(12))
        let token = Base64URL.encode(try SecureRandom.bytes(24))
        guard let authenticatorId = TokenID(id), let accessToken = AccessToken(token) else {
            throw CaseEnd.broken("the kit made no token")
        }
        member = KitMember(
            id: authenticatorId, token: token, credentialId: verified.credentialId, publicKey: verified.publicKey,
            userId: userId, canVerifyUser: verified.flags.contains(.userVerified), signCount: verified.signCount)
        let answer = KitAnswer.json(
            201, EnrollmentAnswer(authenticatorId: authenticatorId, accessToken: accessToken).json)
        ceremonies[ceremony]?.body = body
        ceremonies[ceremony]?.answer = answer
        return answer
    }

    /// What a decision is, by the rules of sections 8 and 10.
    mutating func judged(_ jti: String, _ body: [UInt8], origin: String) -> KitDecision {
        func decision(_ message: DecisionMessage?, _ problem: String?, _ answer: KitAnswer) -> KitDecision {
            KitDecision(jti: jti, body: body, message: message, problem: problem, answer: answer)
        }
        let message: DecisionMessage
        do { message = try DecisionMessage(bytes: body) } catch {
            return decision(nil, "\(error)", .problem(.invalidRequest))
        }
        guard let listed = listed.first(where: { $0.message.jti == jti })?.message else {
            return decision(message, "no request of this jti is listed", .problem(.unknownRequest))
        }
        guard case .approve(let response) = message else {
            return decision(message, nil, .json(200, DecisionAnswer(transStatus: .notAuthenticated).json))
        }
        do {
            guard let request = listed.request, let member else {
                throw CaseEnd.failed("it approves a request that is not in order")
            }
            let payment = try request.payment?.clientData(
                for: request.transaction, rpId: KitIssuer.relyingParty, origin: origin)
            self.member?.signCount = try AssertionVerifier.verify(
                response, form: payment.map(AssertionForm.payment) ?? .get, publicKey: member.publicKey,
                credentialId: member.credentialId, userHandle: member.userId, challenge: request.challenge,
                origin: origin, rpId: KitIssuer.relyingParty,
                userVerificationRequired: request.options.userVerification == .required,
                signCount: .mustRise(above: member.signCount))
            return decision(message, nil, .json(200, DecisionAnswer(transStatus: .authenticated).json))
        } catch CaseEnd.failed(let why) {
            return decision(message, why, .problem(.invalidAssertion))
        } catch {
            return decision(message, "\(error)", .problem(.invalidAssertion))
        }
    }
}
