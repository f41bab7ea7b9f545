package import Keys

/// The answer to a registration: RegistrationResponseJSON (WebAuthn Level 3 §5.1, §5.2.1).
///
/// Its attestation object is readable and attests the credential that the response names. `RegistrationVerifier` checks
/// the signature, and whether the response matches the relying party's options.
package struct RegistrationResponse: Sendable, Equatable {
    /// The bytes that the client made.
    package let clientDataJSON: [UInt8]
    /// The bytes that the authenticator made.
    package let attestationObject: [UInt8]
    package let credential: AttestedCredential

    let attestation: AttestationObject
    let parsedAuthenticatorData: AuthenticatorData

    /// Parses the attestation object.
    ///
    /// Throws if it is unreadable or attests another credential.
    package init(
        credentialId: [UInt8], clientDataJSON: [UInt8], attestationObject: [UInt8]
    ) throws(WebAuthnError) {
        let attestation: AttestationObject
        let data: AuthenticatorData
        do { attestation = try AttestationObject.parse(attestationObject) } catch { throw Self.unreadable("\(error)") }
        do { data = try AuthenticatorData.parse(attestation.authenticatorData) } catch {
            throw Self.unreadable("\(error)")
        }
        guard let credential = data.attestedCredential else { throw Self.unreadable("attests no credential") }
        guard credential.credentialId == credentialId else {
            throw WebAuthnError(path: "/rawId", problem: "must be the credential id that is attested")
        }
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.credential = credential
        self.attestation = attestation
        self.parsedAuthenticatorData = data
    }

    package var credentialId: [UInt8] { credential.credentialId }
    package var publicKey: PublicKey { credential.publicKey }
    package var authenticatorData: [UInt8] { attestation.authenticatorData }

    private static func unreadable(_ problem: String) -> WebAuthnError {
        WebAuthnError(path: "/response/attestationObject", problem: problem)
    }
}
