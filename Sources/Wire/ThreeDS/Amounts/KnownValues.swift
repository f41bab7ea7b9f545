import TextAndTime

/// The values of a transaction's known members, each read by its rule.
struct KnownValues {
    static let merchantNameLength = 1...40

    private let values: [KnownMember: String]

    /// Creates the values.
    ///
    /// The names of the members must be unique.
    init(_ members: [TransactionMember]) {
        var values: [KnownMember: String] = [:]
        for member in members {
            guard let known = KnownMember(name: member.name) else { continue }
            values[known] = member.value
        }
        self.values = values
    }

    func acsTransId() throws(TransactionRefusal) -> ACSTransactionID {
        guard let id = ACSTransactionID(try value(.acsTransId)) else {
            throw TransactionRefusal(.acsTransId, of: .acsTransId, "is not a UUID of 36 characters")
        }
        return id
    }

    func merchantName() throws(TransactionRefusal) -> String {
        let name = try value(.merchantName)
        let length = name.unicodeScalars.count
        guard Self.merchantNameLength.contains(length) else {
            throw TransactionRefusal(.merchantName, of: .merchantName, "has \(length) characters; 1 to 40 are allowed")
        }
        return name
    }

    /// Reads the payment.
    ///
    /// `nil` if all four purchase members are absent.
    func purchase() throws(TransactionRefusal) -> Purchase? {
        let absent = KnownMember.purchase.filter { values[$0] == nil }
        if absent.count == KnownMember.purchase.count { return nil }
        if let first = absent.first {
            let names = absent.map(\.rawValue).joined(separator: ", ")
            throw TransactionRefusal(
                .purchaseIncomplete, member: first.rawValue,
                "the purchase lacks \(names); the four purchase members come together or not at all")
        }
        return Purchase(amount: try amount(), currency: try currency(), exponent: try exponent(), date: try date())
    }

    func threeDSRequestorAppURL() throws(TransactionRefusal) -> ThreeDSRequestorAppURL? {
        guard let text = values[.threeDSRequestorAppURL] else { return nil }
        do {
            return try ThreeDSRequestorAppURL(text)
        } catch {
            throw TransactionRefusal(.threeDSRequestorAppURL, of: .threeDSRequestorAppURL, error.description)
        }
    }

    private func amount() throws(TransactionRefusal) -> PurchaseAmount {
        guard let amount = PurchaseAmount(try value(.purchaseAmount)) else {
            throw TransactionRefusal(.purchaseAmount, of: .purchaseAmount, "is not 1 to 48 ASCII digits")
        }
        return amount
    }

    private func currency() throws(TransactionRefusal) -> Currency {
        let code = try value(.purchaseCurrency)
        guard code.utf8.count == 3, code.isASCIIDigits else {
            throw TransactionRefusal(.purchaseCurrency, of: .purchaseCurrency, "is not 3 ASCII digits")
        }
        guard let currency = Currency.numeric(code) else {
            throw TransactionRefusal(
                .currencyUnknown, of: .purchaseCurrency,
                "is \(code), which ISO 4217 of \(Currency.publicationDate) does not list")
        }
        guard currency.isAllowedForPurchases else {
            throw TransactionRefusal(
                .currencyNotAllowed, of: .purchaseCurrency, "is \(code); 955 to 964 and 999 are not allowed")
        }
        return currency
    }

    private func exponent() throws(TransactionRefusal) -> PurchaseExponent {
        guard let exponent = PurchaseExponent(try value(.purchaseExponent)) else {
            throw TransactionRefusal(.purchaseExponent, of: .purchaseExponent, "is not 1 ASCII digit")
        }
        return exponent
    }

    private func date() throws(TransactionRefusal) -> PurchaseDate {
        guard let date = PurchaseDate(try value(.purchaseDate)) else {
            throw TransactionRefusal(
                .purchaseDate, of: .purchaseDate, "is not a real date in 14 ASCII digits, YYYYMMDDHHMMSS")
        }
        return date
    }

    private func value(_ member: KnownMember) throws(TransactionRefusal) -> String {
        guard let value = values[member] else {
            throw TransactionRefusal(.memberMissing, of: member, "is missing")
        }
        return value
    }
}
