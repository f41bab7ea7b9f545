package import StrictJSON

/// The result of checking a message, rule by rule in the order of the protocol page.
package struct CheckReport: Sendable {
    package enum Outcome: Sendable, Equatable {
        case passed
        /// A failure with its reason: one line that is safe to print.
        case failed(String)
        /// A rule that was not checked, with the option that it needs.
        case notChecked(String)
    }

    package struct Row: Sendable, Equatable {
        /// The stable token of the rule.
        package let rule: String
        /// The requirement in a few words.
        package let title: String
        /// The section of the protocol page.
        package let section: String
        package let outcome: Outcome

        package init(rule: String, title: String, section: String, outcome: Outcome) {
            self.rule = rule
            self.title = title
            self.section = section
            self.outcome = outcome
        }
    }

    /// The verdict: `inOrder`, or another verdict of the conformance vectors.
    package let verdict: String
    /// The token of the first broken rule, or `nil` if none is broken.
    package let broken: String?
    package let rows: [Row]
    /// The decoded content of the message, each part under a heading.
    package let decoded: JSONObject

    package init(verdict: String, broken: String?, rows: [Row], decoded: JSONObject) {
        self.verdict = verdict
        self.broken = broken
        self.rows = rows
        self.decoded = decoded
    }

    package var isInOrder: Bool { broken == nil }
}
