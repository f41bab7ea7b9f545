/// A rule of the protocol page, for the report of a check.
struct CheckedRule {
    /// The token, unique in its list.
    let id: String
    /// The requirement.
    let title: String
    /// The section of the protocol page.
    let section: String

    init(_ id: String, _ title: String, _ section: String) {
        self.id = id
        self.title = title
        self.section = section
    }
}

/// The results of the rules so far.
struct CheckFindings {
    private var failures: [String: String] = [:]
    private var unchecked: [String: String] = [:]
    /// The broken rule after which reading could not continue.
    private var end: String?

    mutating func fail(_ id: String, because reason: String) { failures[id] = reason }
    mutating func leaveOut(_ id: String, because reason: String) { unchecked[id] = reason }
    mutating func stop(at id: String) { end = id }

    /// Returns one row for each rule, in order.
    func rows(_ rules: [CheckedRule]) -> [CheckReport.Row] {
        var isOver = false
        return rules.map { rule in
            defer { isOver = isOver || rule.id == end }
            return CheckReport.Row(
                rule: rule.id, title: rule.title, section: rule.section, outcome: outcome(of: rule.id, isOver: isOver))
        }
    }

    private func outcome(of id: String, isOver: Bool) -> CheckReport.Outcome {
        if let reason = failures[id] { return .failed(reason) }
        if isOver, let end { return .notChecked("\(end) is broken") }
        return unchecked[id].map(CheckReport.Outcome.notChecked) ?? .passed
    }
}
