package import IssuerProtocol
import Keys
package import ThreeDS
package import WebAuthn

/// One thing that an assertion has wrong, for tests of whoever verifies it.
///
/// Says what such an assertion contains, and signs nothing: the caller has the key. Each is to be validly signed over its
/// wrong content, so that an issuer that checks nothing but signatures takes it; only ``badSignature``, ``wrongKey`` and
/// ``malformedAssertion`` are not.
package enum WrongAssertion: String, Sendable, CaseIterable {
    case none
    case badSignature, wrongKey, wrongChallenge, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle
    case noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin

    /// What an honest assertion would say.
    package struct Truth: Sendable {
        let rpId: String
        let origin: String
        let userHandle: [UInt8]
        let nonce: [UInt8]
        let transaction: Transaction
        let payment: PaymentExtension?
        let signCount: UInt32
        let flags: AuthenticatorFlags

        /// - Parameters:
        ///   - origin: the issuer's.
        ///   - nonce: the request's, 16 to 64 bytes.
        ///   - payment: the request's payment extension, if the assertion is of type `payment.get`.
        ///   - signCount: greater than any before it.
        ///   - flags: what is true of the user.
        package init(
            rpId: String, origin: String, userHandle: [UInt8], nonce: [UInt8], transaction: Transaction,
            payment: PaymentExtension?, signCount: UInt32, flags: AuthenticatorFlags = [.userPresent, .userVerified]
        ) {
            self.rpId = rpId
            self.origin = origin
            self.userHandle = userHandle
            self.nonce = nonce
            self.transaction = transaction
            self.payment = payment
            self.signCount = signCount
            self.flags = flags
        }
    }

    /// What is signed and sent.
    package struct Content: Sendable {
        package let clientDataJSON: [UInt8]
        package let authenticatorData: [UInt8]
        package let userHandle: [UInt8]

        /// What the signature is over (WebAuthn Level 3 §6.3.3, step 11).
        package var signed: [UInt8] {
            get throws { authenticatorData + (try SHA256Digest.of(clientDataJSON)) }
        }
    }

    /// The assertion's content, wrong in this one thing.
    ///
    /// Throws if the transaction has no form as `payment.get`.
    package func content(of truth: Truth) throws -> Content {
        Content(
            clientDataJSON: try clientData(of: truth), authenticatorData: try authenticatorData(of: truth),
            userHandle: self == .wrongUserHandle ? try SHA256Digest.of(truth.userHandle) : truth.userHandle)
    }

    /// The signature as it is sent: with ``badSignature`` its last bit is changed.
    ///
    /// What an ECDSA signature says of its own length stays as it is.
    package func sent(_ signature: [UInt8]) -> [UInt8] {
        guard self == .badSignature, let last = signature.last else { return signature }
        return signature.dropLast() + [last ^ 1]
    }

    private func authenticatorData(of truth: Truth) throws -> [UInt8] {
        var flags = truth.flags
        if self == .noUserPresence { flags.remove(.userPresent) }
        if self == .noUserVerification { flags.remove(.userVerified) }
        let data = try AuthenticatorData(
            rpId: self == .wrongRpIdHash ? "other.\(truth.rpId)" : truth.rpId, flags: flags,
            signCount: signCount(of: truth)
        ).encoded()
        return self == .malformedAssertion ? data.dropLast() : data
    }

    /// The issuer has accepted the one before the truth's at most.
    private func signCount(of truth: Truth) -> UInt32 {
        switch self {
        case .counterRegression: truth.signCount > 1 ? truth.signCount - 1 : truth.signCount
        case .zeroCounter: 0
        default: truth.signCount
        }
    }

    private func clientData(of truth: Truth) throws -> [UInt8] {
        let origin = self == .wrongOrigin ? "https://other.example" : truth.origin
        let transaction = self == .alteredAmount ? try truth.transaction.withAmountTenfold() : truth.transaction
        var challenge = try ChallengeCommitment.challenge(nonce: truth.nonce, transaction: transaction.members)
        if self == .wrongChallenge { challenge = try SHA256Digest.of(challenge) }
        let bytes =
            if let asked = truth.payment {
                ClientData.payment(
                    challenge: challenge, origin: origin,
                    try asked.clientData(for: transaction, rpId: truth.rpId, origin: truth.origin))
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
