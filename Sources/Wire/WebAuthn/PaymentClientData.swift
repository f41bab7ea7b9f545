import StrictJSON

/// The confirmed payment, as stated by an assertion of type `payment.get`.
///
/// It is W3C Secure Payment Confirmation's CollectedClientAdditionalPaymentData.
///
/// In that dictionary, `paymentEntitiesLogos` is always the empty list here, because no logos are shown. Only a browser
/// can have `browserBoundPublicKey`.
package struct PaymentClientData: Sendable {
    package let rpId: String
    /// The origin of the party that asked for the confirmation of the payment.
    package let topOrigin: String
    package let payeeName: String
    /// The payee's origin.
    ///
    /// `nil` if the payee was named without one.
    package let payeeOrigin: String?
    package let total: Total
    package let instrument: Instrument

    /// The total: PaymentCurrencyAmount of W3C Payment Request.
    package struct Total: Sendable {
        /// A decimal in major units.
        package let value: String
        /// The alphabetic code of ISO 4217.
        package let currency: String

        package init(value: String, currency: String) {
            self.value = value
            self.currency = currency
        }
    }

    /// The instrument: PaymentCredentialInstrument of W3C Secure Payment Confirmation, as far as clients write it.
    package struct Instrument: Sendable {
        /// A URL.
        package let icon: String
        package let displayName: String

        package init(icon: String, displayName: String) {
            self.icon = icon
            self.displayName = displayName
        }
    }

    package init(
        rpId: String, topOrigin: String, payeeName: String, payeeOrigin: String?, total: Total, instrument: Instrument
    ) {
        self.rpId = rpId
        self.topOrigin = topOrigin
        self.payeeName = payeeName
        self.payeeOrigin = payeeOrigin
        self.total = total
        self.instrument = instrument
    }

    /// Reads the member `payment` of client data.
    ///
    /// Unknown members are ignored.
    init(json: JSONObject) throws(JSONMemberError) {
        _ = try json.array("paymentEntitiesLogos", count: 0...0)
        self.init(
            rpId: try json.string("rpId", bytes: MemberBounds.rpId),
            topOrigin: try json.string("topOrigin", bytes: 1...2_048),
            payeeName: try json.string("payeeName", bytes: 1...1_024),
            payeeOrigin: try json.optionalString("payeeOrigin", bytes: 1...2_048),
            total: try Self.total(json.object("total")), instrument: try Self.instrument(json.object("instrument")))
    }

    private static func total(_ json: JSONObject) throws(JSONMemberError) -> Total {
        do {
            return Total(
                value: try json.string("value", bytes: 1...64), currency: try json.string("currency", bytes: 3...3))
        } catch {
            throw error.inside("total")
        }
    }

    private static func instrument(_ json: JSONObject) throws(JSONMemberError) -> Instrument {
        do {
            return Instrument(
                icon: try json.string("icon", bytes: 1...4_096),
                displayName: try json.string("displayName", bytes: 1...1_024))
        } catch {
            throw error.inside("instrument")
        }
    }
}

/// The form of an assertion.
package enum AssertionForm: Sendable {
    /// Type `webauthn.get`.
    case get
    /// Type `payment.get`, with exactly these members.
    case payment(PaymentClientData)

    var type: String {
        switch self {
        case .get: CollectedClientData.getType
        case .payment: CollectedClientData.paymentType
        }
    }

    var payment: PaymentClientData? {
        if case .payment(let payment) = self { payment } else { nil }
    }
}
