package import IssuerProtocol
import Keys
package import ThreeDS
package import WebAuthn

/// A fault of an assertion, for tests of its verifier.
///
/// This type creates the content of such an assertion but signs nothing: the caller has the key. Each wrong content is
/// to be validly signed, so that an issuer that checks only signatures accepts it. The exceptions are ``badSignature``,
/// ``wrongKey`` and ``malformedAssertion``.
package enum WrongAssertion: String, Sendable, CaseIterable {
    case none
    case badSignature, wrongKey, wrongChallenge, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle
    case noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin

    /// The content of a correct assertion.
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
        ///   - flags: the true flags of the user.
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

    /// The content that is signed and sent.
    package struct Content: Sendable {
        package let clientDataJSON: [UInt8]
        package let authenticatorData: [UInt8]
        package let userHandle: [UInt8]

        /// The signed bytes (WebAuthn Level 3 §6.3.3, step 11).
        package var signed: [UInt8] {
            get throws { authenticatorData + (try SHA256Digest.of(clientDataJSON)) }
        }
    }

    /// Returns the assertion's content with this fault.
    ///
    /// Throws if the transaction cannot have the form `payment.get`.
    package func content(of truth: Truth) throws -> Content {
        Content(
            clientDataJSON: try clientData(of: truth), authenticatorData: try authenticatorData(of: truth),
            userHandle: self == .wrongUserHandle ? try SHA256Digest.of(truth.userHandle) : truth.userHandle)
    }

    /// Returns the signature to send: with ``badSignature`` its last bit is changed.
    ///
    /// The length fields of an ECDSA signature do not change.
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

    /// Returns the counter to send.
    ///
    /// The issuer has accepted at most the value before the correct counter.
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

    /// Returns the client data as a browser writes it in a frame (WebAuthn Level 3 §5.8.1).
    private static func inFrame(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let found = text.firstRange(of: #""crossOrigin":false"#) else { return bytes }
        return Array(
            text.replacingCharacters(in: found, with: #""crossOrigin":true,"topOrigin":"https://other.example""#).utf8)
    }
}

extension String {
    /// Replaces a range without Foundation.
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

extension Transaction {
    /// Returns a copy with ten times the amount, or with another merchant if it has no payment.
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
