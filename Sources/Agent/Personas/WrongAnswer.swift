#if Personas
// The only file that signs without a person's approval. It signs for `test` enrollments only: a `TestApproval` exists
// for no other.

import IssuerProtocol
import Keys
import Records
package import Signing
import WebAuthn
import WrongAssertions

/// A wrong assertion, which no honest authenticator makes; ``WrongAssertion/none`` makes a correct one.
extension WrongAssertion: TestAnswer {
    package func body(of approval: TestApproval) async throws -> [UInt8] {
        let (presented, enrollment) = (approval.presented, approval.enrollment)
        let content = try content(
            of: Truth(
                rpId: enrollment.rpId, origin: enrollment.target.issuer.text, userHandle: enrollment.userHandle,
                nonce: presented.nonce, transaction: presented.transaction, payment: presented.payment,
                signCount: approval.signCount))
        return DecisionBody.approve(
            AuthenticationResponse(
                credentialId: enrollment.credentialId, clientDataJSON: content.clientDataJSON,
                authenticatorData: content.authenticatorData,
                signature: try await signature(over: try content.signed, of: approval),
                userHandle: content.userHandle))
    }

    private func signature(over bytes: [UInt8], of approval: TestApproval) async throws -> [UInt8] {
        guard self != .wrongKey else {
            guard let algorithm = SignatureAlgorithm(rawValue: approval.enrollment.algorithm) else { return [] }
            return try SigningKey.generate(algorithm).signature(over: bytes)
        }
        return sent(try await approval.key.signature(for: SigningPermit(bytes, for: approval)))
    }
}

/// The decision on an earlier request, as it was sent then.
struct EarlierDecision: TestAnswer {
    let bytes: [UInt8]

    func body(of approval: TestApproval) -> [UInt8] { bytes }
}
#endif
