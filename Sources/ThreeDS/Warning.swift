/// Something the payer should look at before deciding.
package struct Warning: Sendable, Equatable {
    package enum Severity: String, Sendable, CaseIterable {
        case low, medium, high
    }

    /// The tokens of the warnings that a transaction itself can have.
    package enum ID {
        package static let exponentMismatch = TransactionRefusal.Code.exponentMismatch.rawValue
        package static let exponentUndefined = TransactionRefusal.Code.exponentUndefined.rawValue
        package static let fundCode = "fundCode"
        package static let hostileText = "hostileText"
    }

    /// A stable token, one of `ID` or of those that the agent adds.
    package let id: String
    /// One sentence for a person.
    package let message: String
    package let severity: Severity

    package init(id: String, message: String, severity: Severity) {
        self.id = id
        self.message = message
        self.severity = severity
    }
}

extension Warning {
    /// The warning about a value with text that does not show as it is; nil where there is none.
    ///
    /// - Parameter member: the value's name, as the payer sees it.
    package static func hostileText(in value: String, member: String) -> Warning? {
        guard DisplayText(value).hasEscapes else { return nil }
        return Warning(
            id: ID.hostileText,
            message: "\(DisplayText.excerpt(member)) has characters that cannot be shown as they are; they are escaped",
            severity: .medium)
    }
}
