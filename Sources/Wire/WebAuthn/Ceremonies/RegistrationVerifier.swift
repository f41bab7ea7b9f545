package import Keys

/// The record of a verified registration at the relying party (the credential record of WebAuthn Level 3 §4).
package struct VerifiedRegistration: Sendable, Equatable {
    package let credentialId: [UInt8]
    package let publicKey: PublicKey
    package let signCount: UInt32
    package let aaguid: [UInt8]
    package let format: AttestationFormat
    package let flags: AuthenticatorFlags
}

/// The relying party's side of a registration (WebAuthn Level 3 §7.1).
package enum RegistrationVerifier {
    /// Verifies a response against the options, and throws the first check that fails.
    ///
    /// - Parameters:
    ///   - challenge: as given out in the options, for this ceremony alone.
    ///   - origin: the only expected origin, compared byte by byte.
    ///   - algorithms: the COSE numbers of the options' `pubKeyCredParams`.
    package static func verify(
        _ response: RegistrationResponse, challenge: [UInt8], origin: String, rpId: String,
        userVerificationRequired: Bool, algorithms: [Int]
    ) throws(VerificationError) -> VerifiedRegistration {
        // §7.1 steps 1 to 3 (options, create(), the kind of response): the caller made the options, and the type
        // guarantees the kind.
        // Step 4 (clientExtensionResults): no extension was requested. Unrequested outputs are ignored (step 28).
        let expectation = CeremonyExpectation(
            type: CollectedClientData.createType, challenge: challenge, origin: origin, rpId: rpId,
            userVerificationRequired: userVerificationRequired)
        // Steps 5 to 11: the client data, its type, challenge, origin, crossOrigin and topOrigin.
        try expectation.checkClientData(response.clientDataJSON)
        // Step 12 (hash) is part of step 22. Step 13 (CBOR) was done when the response was read.
        let data = response.parsedAuthenticatorData
        // Steps 14 to 17: RP ID, UP (mediation is never conditional here), UV, and BS only with BE.
        try expectation.checkAuthenticatorData(data)
        // Steps 18 and 19 (BE, BS): no policy here uses backup. The flags are returned.
        // Step 20: the options must contain the key's algorithm.
        let credential = response.credential
        guard algorithms.contains(credential.publicKey.algorithm.rawValue) else {
            throw VerificationError(.algorithm, "the key's algorithm is not in pubKeyCredParams")
        }
        // Step 21 (format) was done when the response was read: none or packed.
        // Step 22: the attestation statement.
        try checkAttestation(of: response)
        // Steps 23 and 24 (trust anchors): neither form has a certificate. Both none and self attestation are accepted,
        // because the enrollment code identifies the owner of the key, not the attestation.
        // Step 25 (at most 1,023 bytes of credential id) holds by type.
        // Step 26 (not yet registered), 27 and 29 (the record) are up to the caller, who has the records.
        // Step 28 (extension outputs): ignored.
        return VerifiedRegistration(
            credentialId: credential.credentialId, publicKey: credential.publicKey, signCount: data.signCount,
            aaguid: credential.aaguid, format: response.attestation.format, flags: data.flags)
    }

    /// Verifies the attestation statement: none (§8.7), or packed with self attestation (§8.2).
    private static func checkAttestation(of response: RegistrationResponse) throws(VerificationError) {
        switch response.attestation.statement {
        case .none:
            return
        case .packedSelf(let algorithm, let signature):
            let key = response.publicKey
            guard algorithm == key.algorithm else {
                throw VerificationError(.attestation, "attStmt's alg is not the credential key's")
            }
            let isSigned = try key.hasSigned(
                authenticatorData: response.authenticatorData, clientDataJSON: response.clientDataJSON,
                signature: signature)
            guard isSigned else {
                throw VerificationError(.attestation, "attStmt's sig is not the credential key's")
            }
        }
    }
}
