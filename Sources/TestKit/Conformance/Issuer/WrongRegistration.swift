import IssuerProtocol
import Keys
import TextAndTime
import WebAuthn

/// A defect of a registration.
enum WrongRegistration: String, Sendable, CaseIterable {
    case none
    case wrongChallenge, wrongOrigin, wrongType, crossOrigin, wrongRpIdHash, noUserPresence
    /// The self attestation is signed by another key; this has no effect if the issuer asked for no attestation.
    case badAttestation
    /// `rawId` and `id` are not the attested credential's.
    case wrongCredentialId
    /// The attestation object is truncated.
    case malformed

    /// Builds the body of a registration that answers `options`.
    ///
    /// - Parameter key: the credential's key. The issuer need not offer its algorithm.
    func body(
        of key: SigningKey, credentialId: [UInt8], options: EnrollmentOptionsAnswer, issuer: IssuerURL, name: String,
        pushSubscription: PushSubscription?
    ) throws -> [UInt8] {
        let clientData = try clientData(options.options, issuer: issuer)
        let attestation = try attestation(
            of: key, credentialId: credentialId, options: options.options, clientData: clientData)
        let response = try RegistrationResponse(
            credentialId: credentialId, clientDataJSON: clientData, attestationObject: attestation)
        let body = EnrollmentRequest(
            ceremonyId: options.ceremonyId, credential: response, name: name, version: "1", authnType: .pin,
            pushSubscription: pushSubscription
        ).bytes
        switch self {
        case .malformed:
            return Self.replaced(
                Base64URL.encode(attestation), by: Base64URL.encode(attestation.dropLast(20)), in: body)
        case .wrongCredentialId:
            return Self.replaced(
                "\"\(Base64URL.encode(credentialId))\"",
                by: "\"\(Base64URL.encode(try SecureRandom.bytes(credentialId.count)))\"", in: body)
        default: return body
        }
    }

    private func clientData(_ options: PublicKeyCredentialCreationOptions, issuer: IssuerURL) throws -> [UInt8] {
        let challenge = self == .wrongChallenge ? try SHA256Digest.of(options.challenge) : options.challenge
        let origin = self == .wrongOrigin ? "https://other.example" : issuer.text
        let bytes =
            self == .wrongType
            ? ClientData.get(challenge: challenge, origin: origin)
            : ClientData.create(challenge: challenge, origin: origin)
        guard self == .crossOrigin else { return bytes }
        return Self.replaced(#""crossOrigin":false"#, by: #""crossOrigin":true"#, in: bytes)
    }

    private func attestation(
        of key: SigningKey, credentialId: [UInt8], options: PublicKeyCredentialCreationOptions, clientData: [UInt8]
    ) throws -> [UInt8] {
        let credential = try AttestedCredential(
            aaguid: AAGUID.model, credentialId: credentialId, publicKey: key.publicKey)
        let flags: AuthenticatorFlags = self == .noUserPresence ? [.userVerified] : [.userPresent, .userVerified]
        let data = try AuthenticatorData(
            rpId: self == .wrongRpIdHash ? "other.\(options.rpId)" : options.rpId, flags: flags, signCount: 0,
            attestedCredential: credential
        ).encoded()
        guard options.attestation != .none else {
            return AttestationObject(authenticatorData: data, statement: .none).encoded()
        }
        let signer = self == .badAttestation ? try SigningKey.generate(key.algorithm) : key
        let signature = try signer.signature(
            over: SignedBytes.of(authenticatorData: data, clientDataJSON: clientData))
        return AttestationObject(
            authenticatorData: data, statement: .packedSelf(algorithm: key.algorithm, signature: signature)
        ).encoded()
    }

    private static func replaced(_ old: String, by new: String, in bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        return Array(text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new).utf8)
    }
}
