import TextAndTime

/// A warning that the payer should read before deciding.
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
        package static let mixedScripts = "mixedScripts"
    }

    /// A stable token of `ID`, or a token that the agent adds.
    package let id: String
    /// The warning as one sentence for a person.
    package let message: String
    package let severity: Severity

    package init(id: String, message: String, severity: Severity) {
        self.id = id
        self.message = message
        self.severity = severity
    }
}

extension Warning {
    /// Returns the warnings about a value that may mislead a reader, at most two.
    ///
    /// - Parameter member: the value's name, as the payer sees it.
    package static func misleadingText(in value: String, member: String) -> [Warning] {
        [hostileText(in: value, member: member), mixedScripts(in: value, member: member)].compactMap(\.self)
    }

    /// Returns the warning about a word with letters that look like letters of another script.
    ///
    /// For example, Cyrillic letters among Latin ones (Unicode Technical Standard #39).
    private static func mixedScripts(in value: String, member: String) -> Warning? {
        guard MixedScripts.areIn(value) else { return nil }
        return Warning(
            id: ID.mixedScripts,
            message: "\(DisplayText.excerpt(member)) has a word with letters of different scripts, "
                + "which may look like another name",
            severity: .medium)
    }

    /// Returns the warning about a value with characters that need escapes.
    ///
    /// `nil` if it has none.
    ///
    /// - Parameter member: the value's name, as the payer sees it.
    static func hostileText(in value: String, member: String) -> Warning? {
        guard DisplayText(value).hasEscapes else { return nil }
        return Warning(
            id: ID.hostileText,
            message: "\(DisplayText.excerpt(member)) has characters that cannot be shown as they are; they are escaped",
            severity: .medium)
    }
}
