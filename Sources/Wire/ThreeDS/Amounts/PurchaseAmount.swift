import TextAndTime

/// An amount in minor units: EMV 3-D Secure's purchaseAmount, 1 to 48 ASCII digits.
///
/// It is stored as digits, because 48 digits do not fit into a number type.
package struct PurchaseAmount: Sendable, Equatable {
    /// The digits as received, with leading zeros.
    package let digits: String

    package init?(_ digits: String) {
        guard (1...48).contains(digits.utf8.count), digits.isASCIIDigits else { return nil }
        self.digits = digits
    }

    /// The digits without leading zeros, or "0" for zero.
    package var minorUnits: String {
        let significant = digits.drop { $0 == "0" }
        return significant.isEmpty ? "0" : String(significant)
    }
}

/// The number of decimals of an amount: EMV 3-D Secure's purchaseExponent, one ASCII digit.
package struct PurchaseExponent: Sendable, Equatable {
    /// 0 to 9.
    package let decimals: Int

    package init?(_ digit: String) {
        guard digit.utf8.count == 1, digit.isASCIIDigits, let decimals = Int(digit) else { return nil }
        self.decimals = decimals
    }
}

/// Grouping of digits by three from the right, separated by a space, as ISO 80000-1 writes long numbers.
enum DigitGroups {
    /// Returns the digits, grouped if there are more than four.
    static func grouped(_ digits: String) -> String {
        guard digits.utf8.count > 4 else { return digits }
        var groups: [Substring] = []
        var rest = digits[...]
        while !rest.isEmpty {
            groups.append(rest.suffix(3))
            rest = rest.dropLast(3)
        }
        return groups.reversed().joined(separator: " ")
    }
}
