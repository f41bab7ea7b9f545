package import IssuerProtocol
import Keys
import StrictJSON
package import ThreeDS

/// The facts about a message's enrollment; a `nil` fact comes from the message and is not checked.
package struct RequestFacts: Sendable {
    package var keys: JWKSet?
    package var issuer: IssuerURL?
    package var authenticatorId: TokenID?
    package var rpId: String?
    package var credentialId: [UInt8]?
    /// The time of the authenticator's clock, in seconds since 1970.
    package var now: Int64?
    /// Whether approvals of this enrollment can carry UV.
    package var canVerifyUser: Bool?
    package var exponentPolicy: ExponentPolicy

    package init(exponentPolicy: ExponentPolicy = .refuse) { self.exponentPolicy = exponentPolicy }
}

/// Verifies a message of an issuer as the agent does, and continues after a broken rule as far as possible.
package enum RequestCheck {
    /// The limit of a file, in bytes; it exceeds a message's limit, so that a message too long is reported as such.
    package static let maxFileBytes = 65_536

    /// - Throws: an `OpenSSLError` if this machine's cryptography fails.
    package static func report(on jws: String, facts: RequestFacts) throws -> CheckReport {
        let content = RequestContent(jws)
        var reading = try RequestReading(jws, facts: facts, content: content)
        var findings = facts.unchecked(content)
        let first = try reading.readThrough(&findings).first
        let rules = content.isCancellation ? RequestRuleList.cancellation : RequestRuleList.request
        return CheckReport(
            verdict: first.verdict, broken: first.token, rows: findings.rows(rules), decoded: content.json)
    }

    /// Returns the request of a message, even with an invalid signature or time, or `nil` for another defect.
    ///
    /// - Throws: an `OpenSSLError` if this machine's cryptography fails.
    package static func request(in jws: String) throws -> (request: AuthnRequest, issuer: String)? {
        let content = RequestContent(jws)
        guard let issuer = content.issuer else { return nil }
        var reading = try RequestReading(jws, facts: RequestFacts(exponentPolicy: .warn), content: content)
        var findings = CheckFindings()
        guard case .request(let verified) = try reading.readThrough(&findings).last,
            case .inOrder(let request) = verified.verdict
        else { return nil }
        return (request, issuer.text)
    }
}

extension RequestFacts {
    /// Marks the rules that need a missing fact as not checked.
    fileprivate func unchecked(_ content: RequestContent) -> CheckFindings {
        var findings = CheckFindings()
        let missing: [(isMissing: Bool, rules: [String], option: String)] = [
            (keys == nil, ["unknownKey", "signature"], "--jwks"), (issuer == nil, ["iss"], "--issuer"),
            (authenticatorId == nil, ["aud"], "--authenticator-id"),
            (now == nil, ["expired", "ahead"], "--at or --now"),
            (rpId == nil, ["rpId"], "--rp-id"),
            (credentialId == nil && !content.credentials.isEmpty, ["allowCredentials"], "--credential-id"),
            (canVerifyUser == nil && content.requiresUserVerification, ["userVerification"], "--authn-type"),
        ]
        for each in missing where each.isMissing {
            for rule in each.rules { findings.leaveOut(rule, because: "give \(each.option)") }
        }
        return findings
    }

}

/// A repeated reading of one message; before each round, the previous error is removed.
private struct RequestReading {
    private var jws: String
    private var keys: JWKSet
    private var facts: EnrollmentFacts
    private var now: Int64
    private let content: RequestContent

    init(_ jws: String, facts: RequestFacts, content: RequestContent) throws {
        self.jws = jws
        self.content = content
        keys = facts.keys ?? JWKSet(keys: [])
        now = facts.now ?? content.timeInOrder
        // No message matches the placeholder issuer or the placeholder id.
        let issuer = try facts.issuer ?? content.issuer ?? IssuerURL("https://issuer.invalid")
        self.facts = EnrollmentFacts(
            issuer: issuer, authenticatorId: try facts.authenticatorId ?? content.audience ?? Self.nobody(),
            rpId: facts.rpId ?? content.rpId ?? issuer.host,
            credentialId: facts.credentialId ?? content.credentials.first ?? [],
            canVerifyUser: facts.canVerifyUser ?? true, exponentPolicy: facts.exponentPolicy)
        if facts.keys == nil { try signAnew() }
    }

    private static func nobody() throws(ProtocolError) -> TokenID {
        guard let id = TokenID("nobody") else { throw ProtocolError(what: "is none", where: "authenticatorId") }
        return id
    }

    /// Reads until no rule is broken, or until a broken rule cannot be removed.
    mutating func readThrough(
        _ findings: inout CheckFindings
    ) throws -> (first: RequestFinding, last: MessageVerdict) {
        var verdict = read()
        let first = finding(verdict)
        var tried: Set<String> = []
        while let rule = finding(verdict).rule {
            findings.fail(rule, because: finding(verdict).reason)
            if rule == "unknownKey" { findings.leaveOut("signature", because: "its key is not known") }
            guard tried.insert(rule).inserted, try goOn(behind: rule) else {
                findings.stop(at: rule)
                break
            }
            verdict = read()
        }
        return (first, verdict)
    }

    private func read() -> MessageVerdict { AuthnRequestReader.read(jws, for: facts, keys: keys, now: now) }

    private func finding(_ verdict: MessageVerdict) -> RequestFinding {
        if case .notAuthentic(.signature) = verdict, content.message == nil { return RequestFinding(verdict).ofLength }
        if case .cancellation(let cancellation) = verdict { return RequestFinding(cancellation, at: now) }
        return RequestFinding(verdict)
    }

    /// Removes the cause of a broken rule; returns false if that is impossible.
    private mutating func goOn(behind rule: String) throws -> Bool {
        switch rule {
        case "unknownKey", "signature": return try signAnew()
        case "iss":
            guard let issuer = content.issuer else { return false }
            facts = facts.with(issuer: issuer)
        case "aud":
            guard let audience = content.audience else { return false }
            facts = facts.with(authenticatorId: audience)
        case "rpId":
            guard let rpId = content.rpId else { return false }
            facts = facts.with(rpId: rpId)
        case "allowCredentials":
            guard let credential = content.credentials.first else { return false }
            facts = facts.with(credentialId: credential)
        case "expired", "ahead": now = content.timeInOrder
        case "userVerification": facts = facts.with(canVerifyUser: true)
        case "exponent": facts = facts.with(exponentPolicy: .warn)
        default: return false
        }
        return true
    }

    @discardableResult private mutating func signAnew() throws(OpenSSLError) -> Bool {
        guard let message = content.message else { return false }
        let key = try ThrowawayKey()
        jws = try key.signed(message)
        keys = JWKSet(keys: [(message.kid, key.publicKey)])
        return true
    }
}

extension EnrollmentFacts {
    fileprivate func with(
        issuer: IssuerURL? = nil, authenticatorId: TokenID? = nil, rpId: String? = nil, credentialId: [UInt8]? = nil,
        canVerifyUser: Bool? = nil, exponentPolicy: ExponentPolicy? = nil
    ) -> EnrollmentFacts {
        EnrollmentFacts(
            issuer: issuer ?? self.issuer, authenticatorId: authenticatorId ?? self.authenticatorId,
            rpId: rpId ?? self.rpId, credentialId: credentialId ?? self.credentialId,
            canVerifyUser: canVerifyUser ?? self.canVerifyUser, exponentPolicy: exponentPolicy ?? self.exponentPolicy)
    }
}
