// The only file that signs what nobody approved. It signs for `test` enrollments alone: a `TestApproval` is of no other.

import Authenticator
import IssuerProtocol
import Keys
import StrictJSON
import ThreeDS
import WebAuthn

/// An assertion as no honest authenticator makes it.
///
/// Each is validly signed over its wrong content, so that an issuer that checks nothing but signatures takes it; only
/// ``badSignature``, ``wrongKey`` and ``malformedAssertion`` are not.
enum WrongAssertion: TestAnswer {
    case none
    case badSignature, wrongKey, wrongChallenge, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle
    case noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin

    func body(of approval: TestApproval) async throws -> [UInt8] {
        let clientData = try clientData(of: approval)
        let authenticatorData = try authenticatorData(of: approval)
        let signed = authenticatorData + (try SHA256Digest.of(clientData))
        return DecisionBody.approve(
            AuthenticationResponse(
                credentialId: approval.enrollment.credentialId, clientDataJSON: clientData,
                authenticatorData: authenticatorData,
                signature: try await signature(over: signed, of: approval),
                userHandle: self == .wrongUserHandle
                    ? try SHA256Digest.of(approval.enrollment.userHandle) : approval.enrollment.userHandle))
    }

    private func signature(over bytes: [UInt8], of approval: TestApproval) async throws -> [UInt8] {
        guard self != .wrongKey else {
            guard let algorithm = SignatureAlgorithm(rawValue: approval.enrollment.algorithm) else { return [] }
            return try SigningKey.generate(algorithm).signature(over: bytes)
        }
        var signature = try await approval.key.signature(for: SigningPermit(bytes, for: approval))
        // The last bit: what an ECDSA signature says of its own length stays as it is.
        if self == .badSignature, !signature.isEmpty { signature[signature.count - 1] ^= 1 }
        return signature
    }

    // MARK: What is signed

    private func authenticatorData(of approval: TestApproval) throws -> [UInt8] {
        var flags: AuthenticatorFlags = [.userPresent, .userVerified]
        if self == .noUserPresence { flags.remove(.userPresent) }
        if self == .noUserVerification { flags.remove(.userVerified) }
        let rpId = approval.enrollment.rpId
        let data = try AuthenticatorData(
            rpId: self == .wrongRpIdHash ? "other.\(rpId)" : rpId, flags: flags, signCount: signCount(of: approval)
        ).encoded()
        return self == .malformedAssertion ? data.dropLast() : data
    }

    /// The issuer has accepted the one before the approval's own at most.
    private func signCount(of approval: TestApproval) -> UInt32 {
        switch self {
        case .counterRegression: approval.signCount > 1 ? approval.signCount - 1 : approval.signCount
        case .zeroCounter: 0
        default: approval.signCount
        }
    }

    private func clientData(of approval: TestApproval) throws -> [UInt8] {
        let (presented, enrollment) = (approval.presented, approval.enrollment)
        let issuer = enrollment.target.issuer.text
        let origin = self == .wrongOrigin ? "https://other.example" : issuer
        let transaction =
            self == .alteredAmount ? try presented.transaction.withAmountTenfold() : presented.transaction
        var challenge = try ChallengeCommitment.challenge(
            nonce: presented.nonce, transaction: transaction.members)
        if self == .wrongChallenge { challenge = try SHA256Digest.of(challenge) }
        let bytes =
            if let asked = presented.payment {
                ClientData.payment(
                    challenge: challenge, origin: origin,
                    try asked.clientData(for: transaction, rpId: enrollment.rpId, origin: issuer))
            } else {
                ClientData.get(challenge: challenge, origin: origin)
            }
        return self == .crossOrigin ? Self.inFrame(bytes) : bytes
    }

    /// The same client data as a browser writes it in a frame (WebAuthn Level 3 §5.8.1).
    private static func inFrame(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let found = text.firstRange(of: #""crossOrigin":false"#) else { return bytes }
        return Array(
            text.replacingCharacters(in: found, with: #""crossOrigin":true,"topOrigin":"https://other.example""#).utf8)
    }
}

/// The decision on an earlier request, as it was sent then.
struct EarlierDecision: TestAnswer {
    let bytes: [UInt8]

    func body(of approval: TestApproval) -> [UInt8] { bytes }
}

extension String {
    /// Without Foundation.
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

extension Transaction {
    /// The same with ten times the amount; of one that is no payment, with another merchant.
    fileprivate func withAmountTenfold() throws -> Transaction {
        try Transaction(
            members: members.map { member in
                switch member.name {
                case "purchaseAmount" where purchase != nil:
                    TransactionMember(name: member.name, value: String((member.value + "0").suffix(48)))
                case "merchantName" where purchase == nil: TransactionMember(name: member.name, value: "Other")
                default: member
                }
            })
    }
}
