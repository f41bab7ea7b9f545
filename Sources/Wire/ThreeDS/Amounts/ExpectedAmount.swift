import TextAndTime

/// An amount that a person or a script expects before an approval, such as "USD 1.00".
package struct ExpectedAmount: Sendable, Equatable, CustomStringConvertible {
    private let currency: Currency
    private let majorUnits: String

    /// Parses an alphabetic code, one space, and the amount with the decimals that the purchase has.
    ///
    /// The integer part has no leading zeros. Its digits may be grouped as the agent shows them. The limit is 48
    /// digits, 9 of them decimals.
    package init(_ text: String) throws(ExpectedAmountError) {
        let code = text.beginning(bytes: 3)
        let rest = text.dropFirst(3)
        guard let currency = Currency.alphabetic(code), rest.first == " " else { throw .currency }
        let parts = rest.dropFirst().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let decimals = parts.count == 2 ? parts[1] : nil
        guard let written = parts.first, let integer = Self.integer(written) else { throw .amount }
        guard decimals.map(Self.isDecimals) ?? true else { throw .amount }
        guard integer.utf8.count + (decimals?.utf8.count ?? 0) <= 48 else { throw .amount }
        self.currency = currency
        self.majorUnits = decimals.map { "\(integer).\($0)" } ?? integer
    }

    /// The amount without groups, such as "USD 12345.00".
    package var description: String { "\(currency.alphabetic) \(majorUnits)" }

    /// Returns whether the purchase has exactly this currency, amount and number of decimals.
    ///
    /// `false` without a purchase.
    package func holds(for purchase: Purchase?) -> Bool {
        guard let purchase else { return false }
        return purchase.currency == currency && purchase.majorUnits.hasBytes(of: majorUnits)
    }

    /// Returns the digits of an integer part that is plain or grouped.
    ///
    /// `nil` for any other text.
    private static func integer(_ written: String) -> String? {
        let digits = String(written.filter { $0 != " " })
        guard (1...48).contains(digits.utf8.count), digits.isASCIIDigits else { return nil }
        guard digits == "0" || digits.first != "0" else { return nil }
        return written.hasBytes(of: digits) || written.hasBytes(of: DigitGroups.grouped(digits)) ? digits : nil
    }

    private static func isDecimals(_ text: String) -> Bool {
        (1...9).contains(text.utf8.count) && text.isASCIIDigits
    }
}

/// An error in the text of an expected amount.
package enum ExpectedAmountError: Error, Equatable, Sendable, CustomStringConvertible {
    case currency, amount

    package var description: String {
        let form = #"an expected amount is written as "USD 1.00""#
        return switch self {
        case .currency: "\(form): it begins with an ISO 4217 code of three capitals and one space"
        case .amount:
            "\(form): digits without leading zeros, then a point and exactly the purchase's decimals, if it has any; "
                + "at most 48 digits"
        }
    }
}
