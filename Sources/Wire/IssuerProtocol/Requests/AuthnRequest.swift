import TextAndTime
package import ThreeDS
package import WebAuthn

/// An authn request that keeps every rule.
///
/// It is authentic, within its time, and committed to what will be shown.
package struct AuthnRequest: Sendable {
    package let jti: TokenID
    /// Seconds since 1970, as are all times here.
    package let iat: Int64
    package let exp: Int64
    /// 16 to 64 bytes.
    package let nonce: [UInt8]
    package let transaction: Transaction
    /// Equal exactly for "the same transaction" (`ChallengeCommitment.transactionDigest`).
    package let transactionDigest: [UInt8]
    package let options: PublicKeyCredentialRequestOptions
    /// The payment extension, if the assertion is to have the form `payment.get`.
    ///
    /// The transaction is a payment then.
    package let payment: PaymentExtension?
    /// What the transaction and the nonce commit to; `options.challenge` is the same bytes.
    package let challenge: [UInt8]
    /// W3C Trace Context; nil if none came or it is malformed.
    package let traceparent: String?
    /// What the payer should look at.
    package let warnings: [Warning]
}

/// What the rules compare a message with: the enrollment that it came for, and the agent's policy.
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

/// What an `iat` that is ahead of this machine's clock makes of a message: clocks differ.
package enum Earliness: Sendable, Equatable {
    /// At most 60 s ahead.
    case inTime
    /// At most 600 s ahead: to be held, and read again later.
    case early(secondsAhead: Int64)
    /// Further ahead: to be dropped with a warning about the clock.
    case tooEarly(secondsAhead: Int64)

    package init(of iat: Int64, at now: Int64) {
        let ahead = iat.seconds(since: now)
        self =
            if ahead <= AuthnRequestReader.clockTolerance { .inTime } else if ahead <= AuthnRequestReader.longestHold {
                .early(secondsAhead: ahead)
            } else { .tooEarly(secondsAhead: ahead) }
    }
}

/// An issuer's word that a request is taken back.
package struct Cancellation: Sendable, Equatable {
    /// The cancellation's own.
    package let jti: TokenID
    /// It may be ahead: ``Earliness``.
    package let iat: Int64
    /// Until when it is to be remembered; it may be past.
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
