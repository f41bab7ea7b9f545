import FoundationEssentials
import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import TextAndTime
import ThreeDS

/// A request case as a message for an approver.
struct PlayedRequest: Sendable {
    let name: String
    let expected: RequestCase.Expectation
    let reason: DenyReason?
    let message: PreparedMessage
    /// The acsTransId in the message, or `nil` if it cannot be read.
    let acsTransId: String?

    /// Further seconds for a message that is early, so that its time does not come during the run.
    private static let headStart: Int64 = 120
    /// The shortest lifetime in seconds: on a busy machine, a shorter one may end before the request is read.
    private static let leastLifetime: Int64 = 60

    /// - Throws: ``CaseEnd`` if the case cannot be shown to this approver, or if the message no longer matches the
    ///   case.
    init(
        _ one: RequestCase, for member: EnrolledApprover, at issuer: ScriptedSandbox, approver: TestedApprover,
        now: Int64
    ) throws {
        let facts = try one.facts
        guard facts.canVerifyUser == member.canVerifyUser || !one.dependsOnUserVerification else {
            throw CaseEnd.notShown(
                facts.canVerifyUser
                    ? "the approver's enrollment cannot verify its user" : "the approver's enrollment verifies its user"
            )
        }
        guard (facts.exponentPolicy == .warn) == approver.warnsOfExponents || !one.dependsOnExponentPolicy else {
            throw CaseEnd.notShown("it is about exponentPolicy: \(facts.exponentPolicy.rawValue)")
        }
        name = one.header.name
        expected = one.expected
        reason = one.reason
        let caseNow = try one.now
        let random = Base64URL.encode(try SecureRandom.bytes(9))
        let adaptation = RequestAdaptation(
            issuer: issuer.url.text, member: member, jti: "r\(random)", acsTransId: UUID().uuidString.lowercased(),
            shift: now - caseNow + (one.expected == .early ? Self.headStart : 0), caseNow: caseNow,
            keepsTransaction: one.keepsTransaction)
        let jws = try one.message(signedBy: issuer.key, orBy: issuer.otherKey) { adaptation.adapted($0) }
        let content = RequestContent(jws)
        acsTransId = content.acsTransId
        let verdict = AuthnRequestReader.read(
            jws,
            for: EnrollmentFacts(
                issuer: issuer.url, authenticatorId: member.id, rpId: ScriptedSandbox.relyingParty,
                credentialId: member.credentialId, canVerifyUser: member.canVerifyUser,
                exponentPolicy: facts.exponentPolicy),
            keys: JWKSet(keys: [(ScriptedSandbox.keyID, issuer.key.publicKey)]), now: now)
        message = PreparedMessage(jti: content.jti, jws: jws, request: verdict.request)
        try Self.verify(verdict, of: one, now: now)
    }

    /// Verifies that the message, with the parties of the run, still has the verdict of its case.
    private static func verify(_ verdict: MessageVerdict, of one: RequestCase, now: Int64) throws {
        let came = RequestFinding(verdict).verdict
        let isAhead = [.early, .tooEarly].contains(one.expected) && ["early", "tooEarly"].contains(came)
        guard came == one.expected.rawValue || isAhead else {
            throw CaseEnd.notShown("with the parties of a run it is \(came)")
        }
        guard [.inOrder, .refused].contains(one.expected), case .request(let request) = verdict,
            let exp = request.exp, exp.subtractingReportingOverflow(now).partialValue < leastLifetime
        else { return }
        throw CaseEnd.notShown("the request lives for less than \(leastLifetime) s")
    }

    var kitRequest: CaseRequest { CaseRequest(jti: message.jti ?? "", acsTransId: acsTransId ?? "") }
}

extension MessageVerdict {
    /// The request, if it is valid.
    fileprivate var request: AuthnRequest? {
        guard case .request(let verified) = self, case .inOrder(let request) = verified.verdict else { return nil }
        return request
    }
}

extension RequestCase {
    /// Whether its challenge was computed elsewhere, so that the transaction must not change.
    fileprivate var keepsTransaction: Bool {
        expected == .inOrder && (try? patch.optionalBool("recommit")) == false
    }

    /// Whether its outcome depends on the user verification of the enrollment.
    fileprivate var dependsOnUserVerification: Bool {
        !patch.members.isEmpty && header.name.contains("user-verification")
    }
    fileprivate var dependsOnExponentPolicy: Bool {
        guard !patch.members.isEmpty else { return false }
        return header.name.hasPrefix("exponent-") || code.map { $0.hasPrefix("exponent") } ?? false
    }
}
