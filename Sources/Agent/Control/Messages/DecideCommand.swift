/// The body of `POST /v1/requests/{id}/approve` and `…/deny`.
///
/// The agent decides only if every expectation holds.
package struct DecideCommand: Encodable, Sendable, Equatable {
    package static let defaultDeliveryTimeout = 10
    package static let expectMerchantBytes = 1...1_024
    package static let waitRange = 0...3600
    package static let deliveryTimeoutRange = 0...600
    /// The seconds within which the agent decides, counted from the end of the wait for the request.
    package static let decisionSeconds = 30
    /// The years 1970 to 9999, in seconds since 1970.
    package static let decideBeforeRange = 0...253_402_300_799

    /// The only enrollment whose requests are searched.
    package var enrollment: String?
    /// Seconds to wait for the request to come, 0 to 3,600.
    package var wait: Int?
    /// The expected amount with its currency and all its decimals, such as `USD 1.00`.
    package var expectAmount: String?
    /// The expected merchantName, compared byte for byte.
    package var expectMerchant: String?
    /// The expected acsTransId, compared without regard to case.
    package var expectAcsTransId: String?
    /// The reason of a deny.
    ///
    /// An approve has none.
    package var reason: DenialReason?
    /// Seconds to wait for the issuer's answer after the decision, 0 to 600.
    ///
    /// The default is 10.
    package var deliveryTimeout: Int?
    /// The digest of the text that was shown to a person.
    ///
    /// Absent if no text was shown.
    package var shownTextDigest: String?
    /// Refuses the decision if the text has changed since ``shownTextDigest``.
    package var expectShownText: Bool?
    /// The PIN for an approve of an enrollment of authnType `pin`.
    ///
    /// A deny has none.
    package var pin: PINText?
    /// The time from which the agent must not decide, in seconds since 1970.
    ///
    /// The agent's own limit applies as well.
    package var decideBefore: Int?

    package init() {}

    /// The seconds from the call within which the agent decides or gives up.
    package var secondsToDecide: Int { (wait ?? 0) + Self.decisionSeconds }
}

/// The payer's reason for a deny.
package enum DenialReason: String, Codable, Sendable, CaseIterable {
    case userDenied, suspectedFraud
}
