import TextAndTime

/// A row of ISO 4217's list one.
package struct Currency: Sendable, Equatable {
    /// Three letters, such as "USD".
    package let alphabetic: String
    /// Three digits, such as "840" or "008".
    package let numeric: String
    /// The decimals that ISO 4217 gives the currency, 0 to 4.
    ///
    /// `nil` if it gives none ("N.A.").
    package let minorUnit: Int?
    package let name: String
    /// Whether its code is for a fund (CLF, UYI, …): a unit of account that is not used for payments.
    package let isFund: Bool

    init(_ alphabetic: String, _ numeric: String, minorUnit: Int?, name: String, isFund: Bool = false) {
        self.alphabetic = alphabetic
        self.numeric = numeric
        self.minorUnit = minorUnit
        self.name = name
        self.isFund = isFund
    }
}

extension Currency {
    /// The publication date of the list, as YYYY-MM-DD.
    package static let publicationDate = ISO4217.publicationDate

    /// All rows of the list, sorted by numeric code.
    package static let all = ISO4217.currencies

    private static let byNumeric = Dictionary(uniqueKeysWithValues: all.map { ($0.numeric, $0) })
    private static let byAlphabetic = Dictionary(uniqueKeysWithValues: all.map { ($0.alphabetic, $0) })

    /// Returns the currency of a numeric code of exactly three ASCII digits.
    ///
    /// `nil` if the list has none.
    package static func numeric(_ code: String) -> Currency? {
        guard let currency = byNumeric[code], currency.numeric.hasBytes(of: code) else { return nil }
        return currency
    }

    /// Returns the currency of an alphabetic code of exactly three ASCII capitals.
    ///
    /// `nil` if the list has none.
    package static func alphabetic(_ code: String) -> Currency? {
        // A dictionary compares strings by Unicode equivalence, by which the Kelvin sign equals K.
        guard let currency = byAlphabetic[code], currency.alphabetic.hasBytes(of: code) else { return nil }
        return currency
    }

    /// Whether EMV 3-D Secure allows a purchase in this currency.
    ///
    /// Its purchaseCurrency excludes 955 to 964 (bond market units, precious metals, test codes) and 999 (no currency).
    package var isAllowedForPurchases: Bool {
        guard let number = Int(numeric) else { return false }
        return !(955...964).contains(number) && number != 999
    }
}
