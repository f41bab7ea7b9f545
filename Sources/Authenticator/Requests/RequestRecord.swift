package import IssuerProtocol
package import ThreeDS

/// One request in the store.
package struct RequestRecord: Sendable {
    package let id: RequestID
    package let enrollmentId: EnrollmentID
    /// The issuer's name for the message that a decision answers; a newer message may take over.
    package var jti: TokenID
    /// Seconds since 1970, of the message that `jti` names.
    package var iat: Int64?
    package var exp: Int64?
    /// What is presented; nil for a request that was refused or came too late.
    package var presented: PresentedRequest?
    /// The ACS's id in lower case, if it could be read.
    package let acsTransId: String?
    /// The compact JWS as it came.
    package var message: String
    /// Seconds since 1970.
    package let receivedAt: Int64
    package var decidedAt: Int64?
    package var life: RequestLife
    /// Why the delivery failed: what the issuer said, or why it could not be reached.
    ///
    /// Nil if nothing was tried.
    package var deliveryError: String?
    /// Whether another transaction came under the same acsTransId.
    package var hasConflict = false

    package init(
        id: RequestID, enrollmentId: EnrollmentID, jti: TokenID, iat: Int64?, exp: Int64?,
        presented: PresentedRequest?, acsTransId: String?, message: String, receivedAt: Int64, life: RequestLife
    ) {
        self.id = id
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.iat = iat
        self.exp = exp
        self.presented = presented
        self.acsTransId = acsTransId
        self.message = message
        self.receivedAt = receivedAt
        self.life = life
    }
}

/// What of an authn request is shown, and what a signature over it needs.
package struct PresentedRequest: Sendable {
    package let transaction: Transaction
    /// What is presented besides, if the assertion is to have the form `payment.get`.
    package let payment: PaymentExtension?
    /// SHA-256 that is equal exactly for "the same transaction".
    package var transactionDigest: [UInt8]
    /// The nonce of the message that a decision answers.
    package var nonce: [UInt8]
    /// The warnings that stand beside the transaction's text.
    package var warnings: [Warning]
    /// W3C Trace Context, sent along with the decision.
    package var traceparent: String?

    package init(
        transaction: Transaction, payment: PaymentExtension?, transactionDigest: [UInt8], nonce: [UInt8],
        warnings: [Warning], traceparent: String?
    ) {
        self.transaction = transaction
        self.payment = payment
        self.transactionDigest = transactionDigest
        self.nonce = nonce
        self.warnings = warnings
        self.traceparent = traceparent
    }

    init(_ request: AuthnRequest) {
        self.init(
            transaction: request.transaction, payment: request.payment, transactionDigest: request.transactionDigest,
            nonce: request.nonce, warnings: request.warnings, traceparent: request.traceparent)
    }
}

/// A message that was seen, whatever became of it.
package struct SeenMessage: Sendable {
    package let enrollmentId: EnrollmentID
    package let jti: TokenID
    /// SHA-256 of the payload's bytes.
    package let payloadDigest: [UInt8]
    /// The request that it belongs to, if there is one.
    package let requestId: RequestID?
    /// Seconds since 1970.
    package let seenAt: Int64
    /// Whether other bytes came under its jti.
    package let isReused: Bool

    package init(
        enrollmentId: EnrollmentID, jti: TokenID, payloadDigest: [UInt8], requestId: RequestID?, seenAt: Int64,
        isReused: Bool = false
    ) {
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.payloadDigest = payloadDigest
        self.requestId = requestId
        self.seenAt = seenAt
        self.isReused = isReused
    }
}

/// A cancellation that is remembered until its own `exp`.
package struct RememberedCancellation: Sendable {
    package let enrollmentId: EnrollmentID
    package let cancels: TokenID
    /// Seconds since 1970.
    package let until: Int64

    package init(enrollmentId: EnrollmentID, cancels: TokenID, until: Int64) {
        self.enrollmentId = enrollmentId
        self.cancels = cancels
        self.until = until
    }
}
