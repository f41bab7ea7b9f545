import TextAndTime

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
        package static let mixedScripts = "mixedScripts"
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
    /// The warnings about a value whose text may not be what it looks like, two at most.
    ///
    /// - Parameter member: the value's name, as the payer sees it.
    package static func misleadingText(in value: String, member: String) -> [Warning] {
        [hostileText(in: value, member: member), mixedScripts(in: value, member: member)].compactMap(\.self)
    }

    /// The warning about a word with letters that look like those of another script.
    ///
    /// For example Cyrillic letters among Latin ones (Unicode Technical Standard #39).
    private static func mixedScripts(in value: String, member: String) -> Warning? {
        guard MixedScripts.areIn(value) else { return nil }
        return Warning(
            id: ID.mixedScripts,
            message: "\(DisplayText.excerpt(member)) has a word with letters of different scripts, "
                + "which may look like another name",
            severity: .medium)
    }

    /// The warning about a value with text that does not show as it is; nil if there is none.
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
