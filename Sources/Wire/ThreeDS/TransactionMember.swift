import TextAndTime

/// One member of a transaction: a name and a string value, as they were received.
package struct TransactionMember: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Compares by UTF-8 bytes: text that is signed is never compared by Unicode equivalence.
    package static func == (left: TransactionMember, right: TransactionMember) -> Bool {
        left.name.hasBytes(of: right.name) && left.value.hasBytes(of: right.value)
    }
}

/// The members of a transaction that have a rule of their own: those of D1's transaction confirmation data.
package enum KnownMember: String, Sendable, CaseIterable {
    case acsTransId, merchantName
    case purchaseAmount, purchaseCurrency, purchaseExponent, purchaseDate
    case threeDSRequestorAppURL

    /// The four that say what is paid: they come together or not at all.
    package static let purchase: [KnownMember] = [
        .purchaseAmount, .purchaseCurrency, .purchaseExponent, .purchaseDate,
    ]

    /// The member of exactly this name, by bytes.
    package init?(name: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.hasBytes(of: name) }) else { return nil }
        self = known
    }
}
