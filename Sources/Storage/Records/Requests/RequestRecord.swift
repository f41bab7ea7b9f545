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
    /// W3C Trace Context of the message, sent along with the decision.
    package var traceparent: String?
    /// Seconds since 1970.
    package let receivedAt: Int64
    package var decidedAt: Int64?
    /// The place of a queued decision among those of its queue: of an approval its signCount.
    ///
    /// The store gives a denial the next place.
    package var queuePlace: Int64?
    package var life: RequestLife
    /// Why the last try to deliver it brought no answer, or why the issuer did not take it.
    ///
    /// Nil if nothing was tried, or the issuer took it.
    package var deliveryError: String?
    /// Whether another transaction came under the same acsTransId.
    package var hasConflict = false
    /// Damage of the message in the database; nil if it is as the agent wrote it.
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

    /// Damage of a message: nothing of it is shown, and its request is not decided.
    package struct Damage: Sendable {
        /// SHA-256 that is equal exactly for "the same transaction"; nil if it was never presented, or is lost too.
        package let transactionDigest: [UInt8]?
        /// Whether the message itself opens.
        package let hasMessage: Bool

        package init(transactionDigest: [UInt8]?, hasMessage: Bool) {
            self.transactionDigest = transactionDigest
            self.hasMessage = hasMessage
        }
    }

    package var isDamaged: Bool { damage != nil }
    /// SHA-256 that is equal exactly for "the same transaction"; nil if it was never presented, or was erased.
    package var transactionDigest: [UInt8]? { presented?.transactionDigest ?? damage?.transactionDigest }
}

/// As much of a request as tells whether a name means it; its message is not read.
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

    /// Both have one form, so what is shorter is a part of one.
    package func hasAgentsNameOrTransaction(beginning name: String) -> Bool {
        id.text.hasPrefix(name) || acsTransId?.hasPrefix(name.lowercased()) == true
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

    /// Of a request whose message was kept.
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
    /// The answer that a message gets besides the decision on its request: a deny as `duplicate`.
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

/// A deny as `duplicate` that a message waits for, as its transaction was decided under another jti.
package struct DuplicateAnswer: Sendable {
    /// Nothing is sent from this second on.
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
