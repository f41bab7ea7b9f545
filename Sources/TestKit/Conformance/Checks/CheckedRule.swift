/// A rule of the protocol page, as a check's report names it.
struct CheckedRule {
    /// A token of its own in its list.
    let id: String
    /// What it asks for.
    let title: String
    /// Of the protocol page.
    let section: String

    init(_ id: String, _ title: String, _ section: String) {
        self.id = id
        self.title = title
        self.section = section
    }
}

/// What was found about the rules so far.
struct CheckFindings {
    private var failures: [String: String] = [:]
    private var unchecked: [String: String] = [:]
    /// The rule behind which nothing could be read any more.
    private var end: String?

    mutating func fail(_ id: String, because reason: String) { failures[id] = reason }
    mutating func leaveOut(_ id: String, because reason: String) { unchecked[id] = reason }
    mutating func end(at id: String) { end = id }

    /// A row for each rule, in their order.
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
