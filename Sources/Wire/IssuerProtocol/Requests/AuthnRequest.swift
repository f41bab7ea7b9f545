import TextAndTime
package import ThreeDS
package import WebAuthn

/// An authn request that passed every rule.
///
/// It is authentic, within its lifetime, and its challenge commits to the text that will be shown.
package struct AuthnRequest: Sendable {
    package let jti: TokenID
    /// Seconds since 1970, like all times here.
    package let iat: Int64
    package let exp: Int64
    /// 16 to 64 bytes.
    package let nonce: [UInt8]
    package let transaction: Transaction
    /// A digest that is equal exactly for "the same transaction" (`ChallengeCommitment.transactionDigest`).
    package let transactionDigest: [UInt8]
    package let options: PublicKeyCredentialRequestOptions
    /// The payment extension, if the assertion must have the form `payment.get`.
    ///
    /// Then the transaction is a payment.
    package let payment: PaymentExtension?
    /// The commitment to the transaction and the nonce: the same bytes as `options.challenge`.
    package let challenge: [UInt8]
    /// W3C Trace Context.
    ///
    /// `nil` if it is absent or malformed.
    package let traceparent: String?
    /// The warnings for the payer.
    package let warnings: [Warning]
}

/// The facts that the rules compare a message with: the enrollment of the message, and the agent's policy.
package struct EnrollmentFacts: Sendable {
    package let issuer: IssuerURL
    package let authenticatorId: TokenID
    package let rpId: String
    package let credentialId: [UInt8]
    /// Whether an approval of this enrollment can carry UV.
    package let canVerifyUser: Bool
    package let exponentPolicy: ExponentPolicy

    package init(
        issuer: IssuerURL, authenticatorId: TokenID, rpId: String, credentialId: [UInt8], canVerifyUser: Bool,
        exponentPolicy: ExponentPolicy
    ) {
        self.issuer = issuer
        self.authenticatorId = authenticatorId
        self.rpId = rpId
        self.credentialId = credentialId
        self.canVerifyUser = canVerifyUser
        self.exponentPolicy = exponentPolicy
    }
}

/// The classification of an `iat` that is ahead of this machine's clock: clocks differ.
package enum Earliness: Sendable, Equatable {
    /// At most 60 s ahead.
    case inTime
    /// At most 600 s ahead: defer the message, and read it again later.
    case early(secondsAhead: Int64)
    /// Further ahead: drop the message with a warning about the clock.
    case tooEarly(secondsAhead: Int64)

    package init(of iat: Int64, at now: Int64) {
        let ahead = iat.seconds(since: now)
        self =
            if ahead <= AuthnRequestReader.clockTolerance { .inTime } else if ahead <= AuthnRequestReader.longestHold {
                .early(secondsAhead: ahead)
            } else { .tooEarly(secondsAhead: ahead) }
    }
}

/// A message in which the issuer takes a request back.
package struct Cancellation: Sendable, Equatable {
    /// The cancellation's own `jti`.
    package let jti: TokenID
    /// The issue time, which may be ahead of the clock: see ``Earliness``.
    package let iat: Int64
    /// The time until which the cancellation must be kept.
    ///
    /// It may have passed.
    package let exp: Int64
    /// The `jti` of the request.
    package let cancels: TokenID
    /// SHA-256 of the payload's bytes.
    package let payloadDigest: [UInt8]

    package init(jti: TokenID, iat: Int64, exp: Int64, cancels: TokenID, payloadDigest: [UInt8]) {
        self.jti = jti
        self.iat = iat
        self.exp = exp
        self.cancels = cancels
        self.payloadDigest = payloadDigest
    }
}
