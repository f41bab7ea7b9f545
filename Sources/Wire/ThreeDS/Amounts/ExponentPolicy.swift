/// What to do if purchaseExponent is not what ISO 4217 gives the currency.
///
/// The exponent that came is the one that is shown and signed; it is never corrected.
package enum ExponentPolicy: String, Sendable, CaseIterable {
    /// The transaction is refused.
    case refuse
    /// It is shown with a warning.
    case warn
}

extension Transaction {
    /// What the payer should look at: the exponent, a fund code, and text that may not be what it looks like.
    ///
    /// Throws `exponentMismatch` or `exponentUndefined` if the policy is to refuse. The result is bounded: the
    /// amount has two warnings at most, and so has every member.
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
    /// How the exponent differs from ISO 4217's for the currency; nil if it is the same.
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
