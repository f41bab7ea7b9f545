/// What `POST /v1/requests/{id}/approve` and `…/deny` take as their body.
///
/// Unless every expectation holds nothing is decided.
package struct DecideCommand: Encodable, Sendable, Equatable {
    package static let defaultDeliveryTimeout = 10
    package static let expectMerchantBytes = 1...1_024
    package static let waitRange = 0...3600
    package static let deliveryTimeoutRange = 0...600
    /// The seconds within which the agent decides, once the wait for the request is over.
    package static let decisionSeconds = 30
    /// The years 1970 to 9999.
    package static let decideBeforeRange = 0...253_402_300_799

    /// Looks only at this enrollment's requests.
    package var enrollment: String?
    /// Seconds to wait for the request to come, 0 to 3,600.
    package var wait: Int?
    /// An amount with its currency and all its decimals, such as `USD 1.00`.
    package var expectAmount: String?
    /// The merchantName, byte for byte.
    package var expectMerchant: String?
    /// The acsTransId, without regard to case.
    package var expectAcsTransId: String?
    /// Why, of a deny; an approve has none.
    package var reason: DenialReason?
    /// Seconds to wait for the issuer's answer once decided, 0 to 600; 10 if absent.
    package var deliveryTimeout: Int?
    /// The digest of the text that was shown to a person; absent if nothing was shown to anyone.
    package var shownTextDigest: String?
    /// Whether nothing is to be decided if the text is another one by now; goes with ``shownTextDigest``.
    package var expectShownText: Bool?
    /// For an approve of an enrollment of authnType `pin`; a deny has none.
    package var pin: PINText?
    /// Seconds since 1970: nothing is decided from then on; the agent's own limit holds as well.
    package var decideBefore: Int?

    package init() {}

    /// The seconds that the agent may take from the call on, until it is decided or never will be.
    package var secondsToDecide: Int { (wait ?? 0) + Self.decisionSeconds }
}

/// Why a payer denies.
package enum DenialReason: String, Codable, Sendable, CaseIterable {
    case userDenied, suspectedFraud
}
