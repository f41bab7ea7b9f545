// The only way to a signature. A `SigningPermit` is made in this file alone, from a `ConfirmedTransaction` or an
// `UnsignedRegistration`, and `Scripts/check-walls` names the one file that makes each of these. A build with personas has
// one more way, for `test` enrollments, at the end.

package import IssuerProtocol
package import Keys
package import Records
import ThreeDS
package import WebAuthn

/// What whoever checked the user found out.
///
/// Never a default: each is a fact of one decision.
package struct UserCheck: Sendable {
    /// The user was there and approved (WebAuthn's user presence).
    let isPresent: Bool
    /// The user was verified for this very decision (WebAuthn's user verification).
    let isVerified: Bool

    /// Someone who may use the control socket approved this request, and the key was opened for it.
    ///
    /// A declared test authenticator claims verification with it, as a browser's virtual authenticator does.
    package static func explicitApproval(by authnType: AuthnType, with key: any UnlockedKey) -> UserCheck {
        UserCheck(isPresent: true, isVerified: authnType == .test || key.verifiesUser)
    }

    fileprivate var flags: AuthenticatorFlags {
        var flags: AuthenticatorFlags = []
        if isPresent { flags.insert(.userPresent) }
        if isVerified { flags.insert(.userVerified) }
        return flags
    }
}

/// Proof that the payer approved exactly what was presented.
package struct ConfirmedTransaction: Sendable {
    fileprivate let presented: PresentedRequest
    fileprivate let enrollment: Enrollment
    fileprivate let check: UserCheck
    fileprivate let signCount: UInt32

    /// Nil unless the request is undecided, belongs to the enrollment, and the user was there.
    package init?(_ request: RequestRecord, of enrollment: Enrollment, check: UserCheck, signCount: UInt32) {
        var life = request.life
        guard life.decide(.approve) == .sign, let presented = request.presented,
            request.enrollmentId == enrollment.id, check.isPresent, signCount > enrollment.signCount
        else { return nil }
        self.presented = presented
        self.enrollment = enrollment
        self.check = check
        self.signCount = signCount
    }

    /// The assertion without its signature (WebAuthn §6.3.3).
    ///
    /// The challenge is computed here from the transaction that was presented, never copied from what was sent, so
    /// one signature covers every member that the payer was shown (PSD2 RTS Article 5, dynamic linking).
    package func unsignedAssertion() throws -> UnsignedAssertion {
        let challenge = try ChallengeCommitment.challenge(
            nonce: presented.nonce, transaction: presented.transaction.members)
        let data = try AuthenticatorData(rpId: enrollment.rpId, flags: check.flags, signCount: signCount)
        return UnsignedAssertion(
            enrollment: enrollment, clientDataJSON: try clientData(challenge), authenticatorData: data.encoded())
    }

    /// The client data, in the form that was asked for.
    ///
    /// Payee and total are built from what was presented, never copied from what was sent.
    private func clientData(_ challenge: [UInt8]) throws -> [UInt8] {
        guard let asked = presented.payment else {
            return ClientData.get(challenge: challenge, origin: enrollment.origin)
        }
        let payment = try asked.clientData(
            for: presented.transaction, rpId: enrollment.rpId, origin: enrollment.origin)
        return ClientData.payment(challenge: challenge, origin: enrollment.origin, payment)
    }
}

/// The bytes of an assertion that waits for its signature.
package struct UnsignedAssertion: Sendable {
    fileprivate let enrollment: Enrollment
    fileprivate let clientDataJSON: [UInt8]
    fileprivate let authenticatorData: [UInt8]

    /// WebAuthn §6.3.3 step 11: the signature is over authenticatorData and the hash of the client data.
    package func permit() throws -> SigningPermit {
        SigningPermit(bytes: authenticatorData + (try SHA256Digest.of(clientDataJSON)))
    }

    package func signed(_ signature: [UInt8]) -> AuthenticationResponse {
        AuthenticationResponse(
            credentialId: enrollment.credentialId, clientDataJSON: clientDataJSON,
            authenticatorData: authenticatorData, signature: signature, userHandle: enrollment.userHandle)
    }
}

/// The bytes of a registration that waits for its attestation signature, if it has one.
package struct UnsignedRegistration: Sendable {
    private let enrollment: Enrollment
    private let clientDataJSON: [UInt8]
    private let authenticatorData: [UInt8]
    private let attestsItself: Bool
    private let algorithm: SignatureAlgorithm

    /// A registration of the key that was made or found for `enrollment` (WebAuthn §6.3.2).
    ///
    /// Someone asked for it explicitly.
    package init(
        _ enrollment: Enrollment, publicKey: PublicKey, check: UserCheck, options: PublicKeyCredentialCreationOptions
    ) throws {
        self.enrollment = enrollment
        clientDataJSON = ClientData.create(challenge: options.challenge, origin: enrollment.origin)
        let credential = try AttestedCredential(
            aaguid: enrollment.authnType == .test ? AAGUID.test : AAGUID.model,
            credentialId: enrollment.credentialId, publicKey: publicKey)
        authenticatorData = try AuthenticatorData(
            rpId: enrollment.rpId, flags: check.flags, signCount: 0, attestedCredential: credential
        ).encoded()
        attestsItself = options.attestation != .none
        algorithm = publicKey.algorithm
    }

    /// What a self attestation signs (WebAuthn §8.2); nil if the issuer asked for none.
    package func permit() throws -> SigningPermit? {
        guard attestsItself else { return nil }
        return SigningPermit(bytes: authenticatorData + (try SHA256Digest.of(clientDataJSON)))
    }

    package func attested(_ signature: [UInt8]?) throws -> RegistrationResponse {
        let statement = signature.map { AttestationStatement.packedSelf(algorithm: algorithm, signature: $0) }
        let attestation = AttestationObject(authenticatorData: authenticatorData, statement: statement ?? .none)
        return try RegistrationResponse(
            credentialId: enrollment.credentialId, clientDataJSON: clientDataJSON,
            attestationObject: attestation.encoded())
    }
}

/// Leave to sign these bytes, once the core has decided; the custody signs nothing else.
package struct SigningPermit: Sendable {
    package let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }
}

#if Personas
extension SigningPermit {
    /// Leave to sign what a persona made up, with the key of a `test` enrollment; a build for production has none.
    package init(_ bytes: [UInt8], for approval: TestApproval) { self.init(bytes: bytes) }
}
#endif

extension Enrollment {
    /// The origin in client data: the issuer's own.
    var origin: String { target.issuer.text }
}
