// The only way to a signature. Only this file makes a `SigningPermit`, from a `ConfirmedTransaction` or an
// `UnsignedRegistration`. `Scripts/check-walls` names the one file that makes each of these. A build with personas has
// one more way, for `test` enrollments, at the end.

package import IssuerProtocol
package import Keys
package import Records
import ThreeDS
package import WebAuthn

/// The result of the check of the user: user presence and user verification.
///
/// It is never a default. Each value is a fact of one decision.
package struct UserCheck: Sendable {
    /// Whether a user was present and approved (WebAuthn's user presence).
    let isPresent: Bool
    /// Whether a user was verified for this very decision (WebAuthn's user verification).
    let isVerified: Bool

    /// Returns the check of an approval by a peer that may use the control socket, for which the key was opened.
    ///
    /// A declared test authenticator also claims user verification, as a browser's virtual authenticator does.
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

    /// Fails unless the request is undecided, was presented, and belongs to the enrollment, and the user was present.
    ///
    /// It also fails unless `signCount` is above the enrollment's.
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

    /// Builds the assertion without its signature (WebAuthn §6.3.3).
    ///
    /// The challenge is computed here from the transaction that was presented, never copied from the message. So one
    /// signature covers every member that the payer was shown (PSD2 RTS Article 5, dynamic linking).
    package func unsignedAssertion() throws -> UnsignedAssertion {
        let challenge = try ChallengeCommitment.challenge(
            nonce: presented.nonce, transaction: presented.transaction.members)
        let data = try AuthenticatorData(rpId: enrollment.rpId, flags: check.flags, signCount: signCount)
        return UnsignedAssertion(
            enrollment: enrollment, clientDataJSON: try clientData(challenge), authenticatorData: data.encoded())
    }

    /// Builds the client data in the form that the issuer asked for.
    ///
    /// Payee and total are built from the transaction that was presented, never copied from the message.
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

    /// Makes the permit for authenticatorData and the hash of the client data (WebAuthn §6.3.3 step 11).
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

    /// Creates the registration of the key that was made or found for `enrollment` (WebAuthn §6.3.2).
    ///
    /// A peer asked for it explicitly.
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

    /// Makes the permit for a self attestation (WebAuthn §8.2), or `nil` if the issuer asked for none.
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

/// The permission to sign these bytes, after the core has decided; the custody signs no other bytes.
package struct SigningPermit: Sendable {
    package let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }
}

#if Personas
extension SigningPermit {
    /// Permits a persona's own bytes to be signed with the key of a `test` enrollment.
    ///
    /// A production build does not have this initializer.
    package init(_ bytes: [UInt8], for approval: TestApproval) { self.init(bytes: bytes) }
}
#endif

extension Enrollment {
    /// The origin in client data: the issuer's own.
    var origin: String { target.issuer.text }
}
