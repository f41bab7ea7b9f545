/// An authn request as clients see it: the JSON of `show`, of a row of `list`, and of an answer to a decision.
///
/// A member without a value is left out. Times are RFC 3339, UTC. Text from the issuer is unchanged: only ``text`` is
/// safe on a terminal without escaping.
package struct RequestView: Codable, Sendable, Equatable {
    /// The agent's own id.
    ///
    /// It stays with the transaction when a newer ``jti`` takes over.
    package var id: String
    /// The issuer's id of the message that a decision answers.
    package var jti: String
    /// The ACS's id of the transaction (EMV 3-D Secure).
    package var acsTransId: String
    package var enrollmentId: String
    /// The name that a person gave to the enrollment.
    ///
    /// Absent if it has been erased.
    package var enrollmentName: String?
    package var issuer: String
    package var merchantName: String?
    package var amount: AmountView?
    package var purchaseDate: String?
    /// The URL to which the payer returns, byte for byte as received.
    package var threeDSRequestorAppURL: String?
    /// Every member of the transaction, as received.
    package var transaction: [String: String]?
    package var warnings: [WarningView] = []
    package var state: RequestState
    /// The reason that was sent to the issuer with a deny.
    package var reason: String?
    /// The reason why the agent refused the request: a stable token.
    package var refusal: String?
    package var delivery: DeliveryState
    /// The issuer's answer to the decision: `Y` or `N`.
    package var transStatus: String?
    /// The reason why the delivery failed: `expired`, `unenrolled`, or the issuer's code.
    package var deliveryFailure: String?
    /// For a failed delivery: the issuer's message, or why the issuer could not be reached.
    ///
    /// It is one sentence for people.
    package var deliveryError: String?
    package var receivedAt: String
    package var expiresAt: String?
    package var decidedAt: String?
    /// The text that the agent wrote for a person, escaped for a terminal.
    ///
    /// Only in an answer about one request.
    package var text: String?
    /// SHA-256 of the bytes of ``text``, base64url.
    package var textDigest: String?
    /// The authnType of an approval: `pin`, `presence` or `test`.
    ///
    /// Only in an answer about one request.
    package var authnType: String?
    /// The agent's clock.
    ///
    /// Only in an answer about one request. Absent if it is the machine's clock.
    package var clock: ClockView?

    /// Whether its row in the database differs from the row that the agent wrote.
    ///
    /// Then no part of it is shown, and it cannot be decided.
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

/// The state of an authn request.
package enum RequestState: String, Codable, Sendable, CaseIterable {
    case pending, approved, denied, expired, cancelled, refused
}

/// The state of a decision's delivery to the issuer.
package enum DeliveryState: String, Codable, Sendable, CaseIterable {
    case none, queued, delivered, failed
}

/// An amount in major units with exactly the decimals of its exponent: `{"currency": "USD", "value": "1.00"}`.
package struct AmountView: Codable, Sendable, Equatable {
    /// The alphabetic code of ISO 4217.
    package var currency: String
    package var value: String

    package init(currency: String, value: String) {
        self.currency = currency
        self.value = value
    }
}

/// A warning that a person should read before deciding, or about the setup.
package struct WarningView: Codable, Sendable, Equatable {
    /// A stable token.
    package var id: String
    package var message: String
    /// `low`, `medium` or `high`.
    package var severity: String
    /// The enrollment that the warning is about, if any.
    package var enrollment: String?
    /// The number of further enrollments that have the same warning, if any.
    package var others: Int?
    /// `true` if the agent cannot find out whether the warning applies.
    ///
    /// Absent otherwise.
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
    /// The amount as text, such as `USD 1.00`.
    package var amountText: String? { amount.map { "\($0.currency) \($0.value)" } }
}
