/// The payment in a transaction: amount, currency and date.
///
/// Only `Transaction` creates one, from members that have passed their rules.
package struct Purchase: Sendable, Equatable {
    package let amount: PurchaseAmount
    /// A currency that is allowed for purchases.
    package let currency: Currency
    /// The exponent as received, even if ISO 4217 gives the currency another.
    package let exponent: PurchaseExponent
    package let date: PurchaseDate

    /// The amount in major units, such as "1.00": exactly `exponent` decimals, and no point if that is 0.
    ///
    /// The integer part has no leading zeros, or is "0". It is built from the digits, never rounded and never converted
    /// to a number.
    package var majorUnits: String {
        let (integer, decimals) = parts
        return decimals.isEmpty ? integer : "\(integer).\(decimals)"
    }

    /// The amount as shown: "USD 1.00", and "USD 12 345.00" above 9,999.
    package var display: String {
        let (integer, decimals) = parts
        let grouped = DigitGroups.grouped(integer)
        return decimals.isEmpty ? "\(currency.alphabetic) \(grouped)" : "\(currency.alphabetic) \(grouped).\(decimals)"
    }

    private var parts: (integer: String, decimals: String) {
        let digits = amount.minorUnits
        let padding = String(repeating: "0", count: max(0, exponent.decimals + 1 - digits.utf8.count))
        let padded = padding + digits
        return (String(padded.dropLast(exponent.decimals)), String(padded.suffix(exponent.decimals)))
    }
}
