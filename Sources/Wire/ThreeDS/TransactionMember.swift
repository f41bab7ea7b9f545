import TextAndTime

/// A member of a transaction: a name and a string value, as received.
package struct TransactionMember: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Compares by UTF-8 bytes.
    ///
    /// Signed text is never compared by Unicode equivalence.
    package static func == (left: TransactionMember, right: TransactionMember) -> Bool {
        left.name.hasBytes(of: right.name) && left.value.hasBytes(of: right.value)
    }
}

/// The members of a transaction that have a rule of their own: D1's transaction confirmation data.
package enum KnownMember: String, Sendable, CaseIterable {
    case acsTransId, merchantName
    case purchaseAmount, purchaseCurrency, purchaseExponent, purchaseDate
    case threeDSRequestorAppURL

    /// The four members of a payment, of which all or none are present.
    package static let purchase: [KnownMember] = [
        .purchaseAmount, .purchaseCurrency, .purchaseExponent, .purchaseDate,
    ]

    /// Returns the member of exactly this name, compared by bytes.
    package init?(name: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.hasBytes(of: name) }) else { return nil }
        self = known
    }
}
