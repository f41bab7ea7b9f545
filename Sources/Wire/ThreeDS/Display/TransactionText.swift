package import TextAndTime

/// The text that the payer decides on: fixed lines of "Label: value", most important first.
///
/// It contains everything that the signature covers. For the URL of an instrument's icon it contains the host, or the
/// digest. Values pass through `DisplayText`, so no value can start a line. The word "Member" stands before a member's
/// own name, so no name can imitate a fixed label.
package struct TransactionText: Sendable {
    /// The lines, separated by "\n".
    ///
    /// No line ends in a space, and no line break follows the last.
    package let text: String
    /// The question: one line that asks for the decision and repeats amount and merchant.
    package let question: String

    /// - Parameters:
    ///   - enrollment: the enrollment's name.
    ///   - expiresAt: the time from which the request cannot be decided, in seconds since 1970.
    ///   - payeeOrigin: the payee's origin, if the request has one.
    ///   - instrument: the payment instrument's display name, if the request has one.
    ///   - icon: the location of that instrument's icon, if the request has one.
    ///   - warnings: shown in the order given. Warnings about the amount also appear beside it.
    package init(
        transaction: Transaction, issuer: String, enrollment: String, expiresAt: Int64, payeeOrigin: String?,
        instrument: String?, icon: String?, warnings: [Warning], localTime: LocalTime
    ) {
        let date = transaction.purchase.map { localTime.text($0.date.secondsSince1970) }
        var lines = [
            Line("Amount", Self.amount(of: transaction, warnings)),
            Line("Merchant", transaction.merchantName),
            Line("Payee", payeeOrigin),
            Line("Date", date),
            Line("Issuer", issuer),
            Line("Enrollment", enrollment),
            Line("Instrument", instrument),
            Line("Icon", icon),
            Line("Expires", localTime.text(expiresAt)),
        ]
        lines += warnings.map { Line("Warning", $0.message) }
        lines.append(Line("Return URL", transaction.threeDSRequestorAppURL?.text))
        lines.append(Line("acsTransId", transaction.acsTransId.text))
        lines += transaction.otherMembers.map { Line("Member \($0.name)", $0.value) }
        self.text = lines.compactMap { $0?.text }.joined(separator: "\n")
        self.question = Self.question(about: transaction)
    }

    private static func question(about transaction: Transaction) -> String {
        let merchant = DisplayText(transaction.merchantName).text
        guard let purchase = transaction.purchase else {
            return "Approve this authentication (not a payment) for \(merchant)?"
        }
        return "Approve \(purchase.display) to \(merchant)?"
    }

    private static func amount(of transaction: Transaction, _ warnings: [Warning]) -> String {
        guard let purchase = transaction.purchase else { return "none (not a payment)" }
        let notes = warnings.compactMap { note(on: purchase, $0) }
        return ([purchase.display] + notes).joined(separator: " ")
    }

    /// Returns the note beside the amount if a warning is about it.
    private static func note(on purchase: Purchase, _ warning: Warning) -> String? {
        let code = purchase.currency.alphabetic
        return switch warning.id {
        case Warning.ID.exponentMismatch: "(check the decimals: \(code) has \(purchase.currency.minorUnit ?? 0))"
        case Warning.ID.exponentUndefined: "(check the decimals: \(code) has no number of them)"
        case Warning.ID.fundCode: "(a fund code)"
        default: nil
        }
    }
}

/// A line with a label and a value.
///
/// Padding aligns the values of the fixed labels.
private struct Line {
    private static let column = 12

    let text: String

    /// Creates a line.
    ///
    /// Returns `nil` without a value. An empty value leaves the label alone.
    init?(_ label: String, _ value: String?) {
        guard let value else { return nil }
        let shown = DisplayText(value).text
        let padding = String(repeating: " ", count: max(1, Self.column - label.utf8.count - 1))
        self.text = shown.isEmpty ? "\(label):" : "\(label):\(padding)\(shown)"
    }
}
