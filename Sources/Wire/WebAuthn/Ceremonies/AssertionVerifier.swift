package import Keys

/// The rule of a relying party for an assertion's signature counter.
package enum SignCountRule: Sendable, Equatable {
    /// The counter must be above the last accepted one, even if that is 0.
    ///
    /// This is for authenticators that are known to count.
    case mustRise(above: UInt32)
    /// Any counter is accepted.
    case notChecked
}

/// The relying party's side of an authentication (WebAuthn Level 3 §7.2).
package enum AssertionVerifier {
    /// Returns the checks in their order.
    ///
    /// The first that fails ends the verification.
    ///
    /// - Parameter isPayment: whether the assertion must be of type `payment.get`. Other assertions have fewer checks.
    package static func checks(ofPayment isPayment: Bool) -> [VerificationError.Code] {
        let payment: [VerificationError.Code] = [
            .paymentRpId, .paymentTopOrigin, .payeeName, .payeeOrigin, .total, .instrument,
        ]
        return [.credentialId, .userHandle, .clientData, .type, .challenge, .origin, .crossOrigin, .topOrigin]
            + (isPayment ? payment : [])
            + [.authenticatorData, .rpId, .userPresence, .userVerification, .backupState, .signature, .signCount]
    }

    /// Verifies a response, and returns the signature counter to store.
    ///
    /// Throws the first check that fails against the options and the credential's record.
    ///
    /// - Parameters:
    ///   - publicKey: the credential's, from its registration.
    ///   - credentialId: the only expected credential.
    ///   - userHandle: the account's. If the response has one, they must be equal.
    ///   - challenge: as given out in the options, for this ceremony alone.
    ///   - origin: the only expected origin, compared byte by byte.
    ///   - form: the requested form. An assertion of the other form is refused.
    package static func verify(
        _ response: AuthenticationResponse, form: AssertionForm = .get, publicKey: PublicKey, credentialId: [UInt8],
        userHandle: [UInt8]? = nil,
        challenge: [UInt8], origin: String, rpId: String, userVerificationRequired: Bool, signCount: SignCountRule
    ) throws(VerificationError) -> UInt32 {
        // §7.2 steps 1 to 3 (options, get(), the kind of response): the caller made the options, and the type
        // guarantees the kind.
        // Step 4 (clientExtensionResults): outputs are ignored (step 23).
        // Steps 5 and 6: the user was identified before, so there is one credential and one user handle.
        try checkIdentity(of: response, credentialId: credentialId, userHandle: userHandle)
        let expectation = CeremonyExpectation(
            type: form.type, payment: form.payment, challenge: challenge, origin: origin, rpId: rpId,
            userVerificationRequired: userVerificationRequired)
        // Steps 7 to 14: the client data, its type, challenge, origin, crossOrigin and topOrigin, and a payment's.
        try expectation.checkClientData(response.clientDataJSON)
        let data: AuthenticatorData
        do { data = try AuthenticatorData.parse(response.authenticatorData) } catch {
            throw VerificationError(.authenticatorData, "\(error)")
        }
        // §6.1: only a registration attests a credential.
        guard data.attestedCredential == nil else {
            throw VerificationError(.authenticatorData, "AT is set in an assertion")
        }
        // Steps 15 to 18: RP ID, UP, UV, and BS only with BE.
        try expectation.checkAuthenticatorData(data)
        // Step 19 (BE and BS as in the record): backup plays no part in any policy here.
        // Steps 20 and 21: the hash and the signature.
        let isSigned = try publicKey.hasSigned(
            authenticatorData: response.authenticatorData, clientDataJSON: response.clientDataJSON,
            signature: response.signature)
        guard isSigned else { throw VerificationError(.signature, "the signature is not the credential key's") }
        // Step 22: the signature counter.
        try verify(data.signCount, against: signCount)
        // Step 23 (extension outputs): ignored. Steps 24 and 25 (the record) are up to the caller, who has the record.
        return data.signCount
    }

    private static func checkIdentity(
        of response: AuthenticationResponse, credentialId: [UInt8], userHandle: [UInt8]?
    ) throws(VerificationError) {
        guard response.credentialId == credentialId else {
            throw VerificationError(.credentialId, "the credential is not the one that is expected")
        }
        if let came = response.userHandle, let userHandle, came != userHandle {
            throw VerificationError(.userHandle, "userHandle is not the account's")
        }
    }

    /// Refuses a counter that does not rise.
    ///
    /// The standard leaves this to the relying party, and accepts 0 after 0 from authenticators that do not count.
    /// `mustRise` accepts neither.
    private static func verify(_ signCount: UInt32, against rule: SignCountRule) throws(VerificationError) {
        guard case .mustRise(let last) = rule, signCount <= last else { return }
        throw VerificationError(.signCount, "signCount is not above \(last)")
    }
}
