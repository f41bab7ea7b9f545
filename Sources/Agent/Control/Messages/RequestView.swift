/// An authn request as clients see it: the JSON of `show`, of each row of `list`, and of what a decision answers.
///
/// A member without a value is left out. Times are RFC 3339, UTC. Text of the issuer's stands here as it came;
/// only ``text`` is fit for a terminal as it is.
package struct RequestView: Codable, Sendable, Equatable {
    /// The agent's own id; it stays with the transaction when a newer ``jti`` takes over.
    package var id: String
    /// The issuer's id of the message that a decision answers.
    package var jti: String
    /// The ACS's id of the transaction (EMV 3-D Secure).
    package var acsTransId: String
    package var enrollmentId: String
    /// What a person calls the enrollment; absent if it has been erased.
    package var enrollmentName: String?
    package var issuer: String
    package var merchantName: String?
    package var amount: AmountView?
    package var purchaseDate: String?
    /// Where the payer returns to, byte for byte as it came.
    package var threeDSRequestorAppURL: String?
    /// Every member of the transaction, as it came.
    package var transaction: [String: String]?
    package var warnings: [WarningView] = []
    package var state: RequestState
    /// What went to the issuer with a deny.
    package var reason: String?
    /// Why the agent refused the request, a stable token.
    package var refusal: String?
    package var delivery: DeliveryState
    /// The issuer's answer to the decision: `Y` or `N`.
    package var transStatus: String?
    /// Why the delivery failed: `expired`, `unenrolled`, or the issuer's code.
    package var deliveryFailure: String?
    /// Of a delivery that failed: what the issuer said, or why it could not be reached; one sentence for people.
    package var deliveryError: String?
    package var receivedAt: String
    package var expiresAt: String?
    package var decidedAt: String?
    /// What the agent wrote to be shown to a person, escaped for a terminal; only if one request is answered.
    package var text: String?
    /// SHA-256 of the bytes of ``text``, base64url.
    package var textDigest: String?
    /// What an approval takes: `pin`, `presence` or `test`; only if one request is answered.
    package var authnType: String?
    /// The agent's clock, only if one request is answered; absent if it is the machine's.
    package var clock: ClockView?

    /// Whether it is not in the agent's database as the agent wrote it: nothing of it is shown, and it cannot be decided.
    package var isDamaged: Bool { warnings.contains { $0.id == "damaged" } }

    package init(
        id: String, jti: String, acsTransId: String, enrollmentId: String, issuer: String, state: RequestState,
        delivery: DeliveryState, receivedAt: String
    ) {
        self.id = id
        self.jti = jti
        self.acsTransId = acsTransId
        self.enrollmentId = enrollmentId
        self.issuer = issuer
        self.state = state
        self.delivery = delivery
        self.receivedAt = receivedAt
    }
}

/// Where an authn request is in its life.
package enum RequestState: String, Codable, Sendable, CaseIterable {
    case pending, approved, denied, expired, cancelled, refused
}

/// How far a decision has got to the issuer.
package enum DeliveryState: String, Codable, Sendable, CaseIterable {
    case none, queued, delivered, failed
}

/// An amount in major units with exactly the decimals of its exponent: `{"currency": "USD", "value": "1.00"}`.
package struct AmountView: Codable, Sendable, Equatable {
    /// ISO 4217's alphabetic code.
    package var currency: String
    package var value: String

    package init(currency: String, value: String) {
        self.currency = currency
        self.value = value
    }
}

/// Something a person should know before deciding or about the set-up.
package struct WarningView: Codable, Sendable, Equatable {
    /// A stable token.
    package var id: String
    package var message: String
    /// `low`, `medium` or `high`.
    package var severity: String
    /// The enrollment that it is about, if it is about one.
    package var enrollment: String?
    /// For how many further enrollments it stands, if it stands for some.
    package var others: Int?
    /// `true` if it cannot be told whether it is so; absent elsewhere.
    package var cannotTell: Bool?

    package init(
        id: String, message: String, severity: String, enrollment: String? = nil, others: Int? = nil,
        cannotTell: Bool? = nil
    ) {
        self.id = id
        self.message = message
        self.severity = severity
        self.enrollment = enrollment
        self.others = others
        self.cannotTell = cannotTell
    }
}

extension RequestView {
    /// Such as `USD 1.00`.
    package var amountText: String? { amount.map { "\($0.currency) \($0.value)" } }
}
