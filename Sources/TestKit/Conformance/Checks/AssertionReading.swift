import Keys
import WebAuthn

/// A repeated verification of one assertion; before each round, the previous error is removed.
struct AssertionReading {
    private var response: AuthenticationResponse
    private var form: AssertionForm
    private var publicKey: PublicKey
    private let givenKey: PublicKey?
    private var facts: AssertionFacts
    private let content: AssertionContent
    private let throwaway: ThrowawayKey
    /// Whether its current signature is the kit's own.
    private(set) var isSignedAnew = false

    init(
        _ response: AuthenticationResponse, form: AssertionForm, facts: AssertionFacts, content: AssertionContent
    ) throws(OpenSSLError) {
        self.response = response
        self.form = form
        self.facts = facts
        self.content = content
        givenKey = facts.publicKey
        throwaway = try ThrowawayKey()
        publicKey = facts.publicKey ?? throwaway.publicKey
        if facts.publicKey == nil { try signAnew(response.authenticatorData) }
        if facts.rpId == nil { try signAnew(content.authenticatorData(rpId: Self.anyRelyingParty)) }
    }

    /// The relying party whose hash replaces an unknown one.
    private static let anyRelyingParty = "rp.invalid"

    /// Verifies once, and returns the error, or `nil` for a valid assertion.
    func error() -> VerificationError? {
        do throws(VerificationError) {
            _ = try AssertionVerifier.verify(
                response, form: form, publicKey: publicKey, credentialId: facts.credentialId ?? response.credentialId,
                userHandle: facts.userHandle, challenge: facts.challenge ?? content.clientData?.challenge ?? [],
                origin: facts.origin ?? content.clientData?.origin ?? "", rpId: facts.rpId ?? Self.anyRelyingParty,
                userVerificationRequired: facts.userVerificationRequired ?? false,
                signCount: facts.signCountAbove.map(SignCountRule.mustRise) ?? .notChecked)
            return nil
        } catch { return error }
    }

    /// Returns whether the original assertion is signed by the given key.
    func hasOwnSignature(of original: AuthenticationResponse) throws(OpenSSLError) -> Bool {
        guard let givenKey else { return true }
        let signed = try SignedBytes.of(
            authenticatorData: original.authenticatorData, clientDataJSON: original.clientDataJSON)
        return try givenKey.isValid(signature: original.signature, over: signed)
    }

    /// Removes the cause of a broken rule; returns false if that is impossible.
    mutating func goOn(behind code: VerificationError.Code) throws(OpenSSLError) -> Bool {
        switch code {
        case .credentialId: facts.credentialId = nil
        case .userHandle: facts.userHandle = nil
        case .challenge: facts.challenge = nil
        case .origin: facts.origin = nil
        case .userVerification: facts.userVerificationRequired = false
        case .paymentRpId, .paymentTopOrigin, .payeeName, .payeeOrigin, .total, .instrument:
            guard case .payment(let expected) = form, let came = content.clientData?.payment else { return false }
            form = .payment(expected.taking(code, from: came))
        case .rpId:
            facts.rpId = nil
            try signAnew(content.authenticatorData(rpId: Self.anyRelyingParty))
        case .userPresence: try signAnew(content.authenticatorData(rpId: rpId, adding: .userPresent))
        case .signature: try signAnew(response.authenticatorData)
        default: return false
        }
        return true
    }

    private var rpId: String { facts.rpId ?? Self.anyRelyingParty }

    private mutating func signAnew(_ authenticatorData: [UInt8]) throws(OpenSSLError) {
        response = try throwaway.signed(response, authenticatorData: authenticatorData)
        publicKey = throwaway.publicKey
        isSignedAnew = true
    }
}

extension PaymentClientData {
    /// Returns a copy that expects the received value of the member that a check is about.
    fileprivate func taking(_ code: VerificationError.Code, from came: PaymentClientData) -> PaymentClientData {
        PaymentClientData(
            rpId: code == .paymentRpId ? came.rpId : rpId,
            topOrigin: code == .paymentTopOrigin ? came.topOrigin : topOrigin,
            payeeName: code == .payeeName ? came.payeeName : payeeName,
            payeeOrigin: code == .payeeOrigin ? came.payeeOrigin : payeeOrigin,
            total: code == .total ? came.total : total, instrument: code == .instrument ? came.instrument : instrument)
    }
}
