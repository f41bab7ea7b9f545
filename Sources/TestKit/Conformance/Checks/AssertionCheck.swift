package import IssuerProtocol
package import Keys
import StrictJSON
package import WebAuthn

/// The facts about enrollment and request; a `nil` fact comes from the assertion and is not checked.
package struct AssertionFacts: Sendable {
    package var publicKey: PublicKey?
    package var credentialId: [UInt8]?
    package var userHandle: [UInt8]?
    package var challenge: [UInt8]?
    package var origin: String?
    package var rpId: String?
    /// The form that the request asked for, or `nil` if it is unknown.
    package var form: AssertionForm?
    package var userVerificationRequired: Bool?
    /// The last accepted signCount.
    package var signCountAbove: UInt32?

    package init() {}

    /// Adds the facts of a valid request; facts that are already given stay.
    package mutating func add(_ request: AuthnRequest, issuer: String) throws {
        challenge = challenge ?? request.challenge
        origin = origin ?? issuer
        rpId = rpId ?? request.options.rpId
        userVerificationRequired = userVerificationRequired ?? (request.options.userVerification == .required)
        if credentialId == nil, request.options.allowCredentials.count == 1 {
            credentialId = request.options.allowCredentials.first
        }
        let payment = try request.payment?.clientData(
            for: request.transaction, rpId: request.options.rpId, origin: issuer)
        form = form ?? payment.map(AssertionForm.payment) ?? .get
    }
}

/// Verifies an assertion as an issuer does, and continues after a broken rule as far as possible.
package enum AssertionCheck {
    /// The limit of a file, in bytes.
    package static let maxFileBytes = 262_144

    /// - Throws: an `OpenSSLError` if this machine's cryptography fails.
    package static func report(on response: AuthenticationResponse, facts: AssertionFacts) throws -> CheckReport {
        let content = AssertionContent(response)
        let form = facts.form ?? content.form
        var reading = try AssertionReading(response, form: form, facts: facts, content: content)
        var findings = facts.unchecked()
        var tried: Set<String> = []
        while let error = reading.error() {
            let rule = error.code.rawValue
            findings.fail(rule, because: error.message)
            guard tried.insert(rule).inserted, try reading.goOn(behind: error.code) else {
                findings.stop(at: rule)
                break
            }
        }
        if facts.publicKey != nil, reading.isSignedAnew, try !reading.hasOwnSignature(of: response) {
            findings.fail(
                VerificationError.Code.signature.rawValue, because: "the signature is not the credential key's")
        }
        let rows = findings.rows(AssertionRuleList.rules(ofPayment: form.isPayment))
        let broken = rows.first { if case .failed = $0.outcome { true } else { false } }?.rule
        return CheckReport(
            verdict: broken == nil ? "valid" : "invalid", broken: broken, rows: rows, decoded: content.json)
    }
}

extension AssertionFacts {
    /// Marks the rules that need a missing fact as not checked.
    fileprivate func unchecked() -> CheckFindings {
        var findings = CheckFindings()
        let missing: [(isMissing: Bool, rules: [VerificationError.Code], option: String)] = [
            (publicKey == nil, [.signature], "--public-key"),
            (credentialId == nil, [.credentialId], "--credential-id or --request"),
            (userHandle == nil, [.userHandle], "--user-handle"),
            (challenge == nil, [.challenge], "--challenge or --request"),
            (origin == nil, [.origin], "--origin or --request"), (rpId == nil, [.rpId], "--rp-id or --request"),
            (
                form == nil,
                [.type, .paymentRpId, .paymentTopOrigin, .payeeName, .payeeOrigin, .total, .instrument], "--request"
            ),
            (userVerificationRequired == nil, [.userVerification], "--user-verification or --request"),
            (signCountAbove == nil, [.signCount], "--sign-count-above"),
        ]
        for each in missing where each.isMissing {
            for rule in each.rules { findings.leaveOut(rule.rawValue, because: "give \(each.option)") }
        }
        return findings
    }
}

extension AssertionForm {
    var isPayment: Bool { if case .payment = self { true } else { false } }
}
