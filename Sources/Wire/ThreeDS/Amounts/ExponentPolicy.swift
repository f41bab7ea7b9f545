/// The policy for a purchaseExponent that differs from ISO 4217's for the currency.
///
/// The received exponent is shown and signed. It is never corrected.
package enum ExponentPolicy: String, Sendable, CaseIterable {
    /// Refuse the transaction.
    case refuse
    /// Show the transaction with a warning.
    case warn
}

extension Transaction {
    /// Returns the warnings for the payer: the exponent, a fund code, and text that may mislead a reader.
    ///
    /// Throws `exponentMismatch` or `exponentUndefined` if the policy is to refuse. The result is bounded: at most two
    /// warnings about the amount, and two about each member.
    package func warnings(under policy: ExponentPolicy) throws(TransactionRefusal) -> [Warning] {
        var warnings: [Warning] = []
        if let deviation = purchase?.exponentDeviation {
            guard policy == .warn else { throw deviation }
            warnings.append(Warning(id: deviation.code.rawValue, message: deviation.message, severity: .high))
        }
        if let currency = purchase?.currency, currency.isFund {
            warnings.append(.fundCode(currency))
        }
        return warnings + members.flatMap { Warning.misleadingText(in: $0.value, member: $0.name) }
    }
}

extension Purchase {
    /// The deviation of the exponent from ISO 4217's for the currency.
    ///
    /// `nil` if they are equal.
    fileprivate var exponentDeviation: TransactionRefusal? {
        let code = currency.alphabetic
        guard let minorUnit = currency.minorUnit else {
            return TransactionRefusal(
                .exponentUndefined, of: .purchaseExponent,
                "is \(exponent.decimals); ISO 4217 gives \(code) no number of decimals")
        }
        guard minorUnit != exponent.decimals else { return nil }
        return TransactionRefusal(
            .exponentMismatch, of: .purchaseExponent,
            "is \(exponent.decimals); ISO 4217 gives \(code) \(minorUnit)")
    }
}

extension Warning {
    fileprivate static func fundCode(_ currency: Currency) -> Warning {
        Warning(
            id: ID.fundCode,
            message: "\(currency.alphabetic) (\(currency.name)) is the code of a fund, not of a currency one pays in",
            severity: .medium)
    }
}
