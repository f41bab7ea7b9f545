package import StrictJSON

/// What was found about a message, rule by rule in the order of the protocol page.
package struct CheckReport: Sendable {
    package enum Outcome: Sendable, Equatable {
        case passed
        /// With the reason: one line that is safe to print.
        case failed(String)
        /// With what it would take to check it.
        case notChecked(String)
    }

    package struct Row: Sendable, Equatable {
        /// A stable token.
        package let rule: String
        /// What the rule asks for, in a few words.
        package let title: String
        /// Of the protocol page.
        package let section: String
        package let outcome: Outcome

        package init(rule: String, title: String, section: String, outcome: Outcome) {
            self.rule = rule
            self.title = title
            self.section = section
            self.outcome = outcome
        }
    }

    /// `inOrder`, or another of the words of the conformance vectors.
    package let verdict: String
    /// The token of the first rule that is broken; nil if none is.
    package let broken: String?
    package let rows: [Row]
    /// What the message says, decoded, under a heading each.
    package let decoded: JSONObject

    package init(verdict: String, broken: String?, rows: [Row], decoded: JSONObject) {
        self.verdict = verdict
        self.broken = broken
        self.rows = rows
        self.decoded = decoded
    }

    package var isInOrder: Bool { broken == nil }
}
