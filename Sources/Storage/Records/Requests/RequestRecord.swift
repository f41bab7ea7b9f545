package import IssuerProtocol
package import ThreeDS

/// A request in the store.
package struct RequestRecord: Sendable {
    package let id: RequestID
    package let enrollmentId: EnrollmentID
    /// The issuer's id of the message that a decision answers; a newer message may replace it.
    package var jti: TokenID
    /// The times of the message that `jti` names, in seconds since 1970.
    package var iat: Int64?
    package var exp: Int64?
    /// The presented data, or `nil` for a request that was refused or came too late.
    package var presented: PresentedRequest?
    /// The ACS's transaction id in lower case, if it could be read.
    package let acsTransId: String?
    /// The compact JWS as received.
    package var message: String
    /// The W3C Trace Context of the message, which is sent with the decision.
    package var traceparent: String?
    /// Seconds since 1970.
    package let receivedAt: Int64
    package var decidedAt: Int64?
    /// The place of a queued decision in its queue; for an approval its signCount.
    ///
    /// The store gives a denial the next place.
    package var queuePlace: Int64?
    package var life: RequestLife
    /// The reason why the last delivery try got no answer, or why the issuer rejected it.
    ///
    /// `nil` if there was no try, or if the issuer accepted it.
    package var deliveryError: String?
    /// Whether another transaction came under the same acsTransId.
    package var hasConflict = false
    /// The damage of the stored message, or `nil` if it is what the agent wrote.
    package var damage: Damage?

    package init(
        id: RequestID, enrollmentId: EnrollmentID, jti: TokenID, iat: Int64?, exp: Int64?,
        presented: PresentedRequest?, acsTransId: String?, message: String, traceparent: String?, receivedAt: Int64,
        life: RequestLife
    ) {
        self.id = id
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.iat = iat
        self.exp = exp
        self.presented = presented
        self.acsTransId = acsTransId
        self.message = message
        self.traceparent = traceparent
        self.receivedAt = receivedAt
        self.life = life
    }

    /// The damage of a message: it is not shown, and its request is not decided.
    package struct Damage: Sendable {
        /// SHA-256 that is equal exactly for "the same transaction".
        ///
        /// `nil` if the request was never presented, or if the digest is lost, too.
        package let transactionDigest: [UInt8]?
        /// Whether it is possible to open the message itself.
        package let hasMessage: Bool

        package init(transactionDigest: [UInt8]?, hasMessage: Bool) {
            self.transactionDigest = transactionDigest
            self.hasMessage = hasMessage
        }
    }

    package var isDamaged: Bool { damage != nil }
    /// SHA-256 that is equal exactly for "the same transaction".
    ///
    /// `nil` if the request was never presented, or if its data was erased.
    package var transactionDigest: [UInt8]? { presented?.transactionDigest ?? damage?.transactionDigest }
}

/// The part of a request that is needed to match it with a name; its message is not read.
package struct NamedRequest: Sendable {
    package let id: RequestID
    package let enrollmentId: EnrollmentID
    package let acsTransId: String?
    package let isPending: Bool

    package init(id: RequestID, enrollmentId: EnrollmentID, acsTransId: String?, isPending: Bool) {
        self.id = id
        self.enrollmentId = enrollmentId
        self.acsTransId = acsTransId
        self.isPending = isPending
    }

    /// Whether its id or acsTransId begins with `name`.
    ///
    /// Both have a fixed form, so a shorter name is the beginning of one.
    package func hasAgentsNameOrTransaction(beginning name: String) -> Bool {
        id.text.hasPrefix(name) || acsTransId?.hasPrefix(name.lowercased()) == true
    }
}

/// The data of an authn request that is shown, and the data that a signature over it needs.
package struct PresentedRequest: Sendable {
    package let transaction: Transaction
    /// The further data that is presented if the assertion has the form `payment.get`.
    package let payment: PaymentExtension?
    /// SHA-256 that is equal exactly for "the same transaction".
    package var transactionDigest: [UInt8]
    /// The nonce of the message that a decision answers.
    package var nonce: [UInt8]
    /// The warnings beside the transaction's text.
    package var warnings: [Warning]

    package init(
        transaction: Transaction, payment: PaymentExtension?, transactionDigest: [UInt8], nonce: [UInt8],
        warnings: [Warning]
    ) {
        self.transaction = transaction
        self.payment = payment
        self.transactionDigest = transactionDigest
        self.nonce = nonce
        self.warnings = warnings
    }

    /// Creates the data of a request whose message was kept.
    package init(_ message: KeptMessage, transactionDigest: [UInt8], warnings: [Warning]) {
        self.init(
            transaction: message.transaction, payment: message.payment, transactionDigest: transactionDigest,
            nonce: message.nonce, warnings: warnings)
    }

    package init(_ request: AuthnRequest) {
        self.init(
            transaction: request.transaction, payment: request.payment, transactionDigest: request.transactionDigest,
            nonce: request.nonce, warnings: request.warnings)
    }
}

/// A message that was received, with any outcome.
package struct SeenMessage: Sendable {
    package let enrollmentId: EnrollmentID
    package let jti: TokenID
    /// SHA-256 of the payload's bytes.
    package let payloadDigest: [UInt8]
    /// The request of the message, if there is one.
    package let requestId: RequestID?
    /// Seconds since 1970.
    package let seenAt: Int64
    /// Whether other bytes came under its `jti`.
    package let isReused: Bool
    /// The answer to a message besides the decision on its request: a denial as `duplicate`.
    package let answer: DuplicateAnswer?

    package init(
        enrollmentId: EnrollmentID, jti: TokenID, payloadDigest: [UInt8], requestId: RequestID?, seenAt: Int64,
        isReused: Bool = false, answer: DuplicateAnswer? = nil
    ) {
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.payloadDigest = payloadDigest
        self.requestId = requestId
        self.seenAt = seenAt
        self.isReused = isReused
        self.answer = answer
    }
}

/// A denial as `duplicate` for a message whose transaction was decided under another jti.
package struct DuplicateAnswer: Sendable {
    /// The second from which on it is not sent any more.
    package let exp: Int64
    package let traceparent: String?

    package init(exp: Int64, traceparent: String?) {
        self.exp = exp
        self.traceparent = traceparent
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
