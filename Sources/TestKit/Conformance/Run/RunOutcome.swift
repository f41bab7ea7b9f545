package import StrictJSON

/// The outcome of a run over many cases.
package struct RunOutcome: Sendable {
    /// `issuer` or `approver`.
    package let side: String
    /// The tested side: the issuer's URL, or `approver`.
    package let tested: String
    package let seed: UInt64
    package let milliseconds: Int
    /// The cases in the order of their sections and names, without secrets.
    package let cases: [ShownCase]
    /// The names of the cases in the order in which they ended; with one job, the order of play.
    package let order: [String]

    /// - Parameters:
    ///   - cases: in the order in which they ended.
    ///   - secrets: removed from every text of the tested side.
    ///   - reportLimit: the limit of each form of the report, in bytes.
    package init(
        side: String, tested: String, seed: UInt64, milliseconds: Int, cases: [CaseOutcome],
        secrets: KnownSecrets = KnownSecrets(), reportLimit: Int = RunReport.limit
    ) {
        self.side = side
        self.tested = tested
        self.seed = seed
        self.milliseconds = milliseconds
        order = cases.map(\.header.name)
        self.cases = ShownCase.all(
            cases.sorted { SectionOrder($0.header) < SectionOrder($1.header) }, without: secrets.redaction,
            limit: reportLimit)
    }

    package func count(_ verdict: CaseOutcome.Verdict) -> Int { cases.count { $0.verdict == verdict } }

    /// The exit status: 0 if no case failed, 1 if a case failed, 2 if the result is unknown.
    ///
    /// The result is unknown if a command did not work, if the time ended before all cases were played, or if no case
    /// was shown.
    package var exitStatus: Int32 {
        if cases.contains(where: \.fails) { return 1 }
        return count(.broken) + count(.notRun) > 0 || !cases.contains { $0.verdict == .passed || $0.verdict == .failed }
            ? 2 : 0
    }

    /// The counts, such as "148 passed, 2 failed, 1 failed (should), 12 not shown".
    package var summary: String {
        let advice = cases.count { $0.verdict == .failed && !$0.fails }
        let counts = [
            (count(.passed), "passed"), (count(.failed) - advice, "failed"), (advice, "failed (should)"),
            (count(.broken), "could not be run"), (count(.notShown), "not shown"),
            (count(.notRun), "not run"),
        ]
        return counts.filter { $0.0 > 0 || $0.1 == "passed" || $0.1 == "failed" }.map { "\($0.0) \($0.1)" }
            .joined(separator: ", ")
    }

    package var json: JSONObject {
        [
            "side": .string(side), "tested": .string(tested), "seed": .string(String(seed)),
            "milliseconds": .integer(Int64(milliseconds)), "summary": .string(summary),
            "exitStatus": .integer(Int64(exitStatus)),
            "counts": .object(
                JSONObject(
                    CaseOutcome.Verdict.allCases.map { verdict in
                        JSONObject.Member(name: verdict.rawValue, value: .integer(Int64(count(verdict))))
                    })),
            "order": .array(order.map(JSONValue.string)),
            "cases": .array(cases.map { .object($0.json) }),
        ]
    }
}

/// The order of sections by number: 9 before 10.
private struct SectionOrder: Comparable {
    private let numbers: [Int]
    private let name: String

    init(_ header: CaseHeader) {
        numbers = header.section.split(separator: ".").map { Int($0) ?? 0 }
        name = header.name
    }

    static func < (left: SectionOrder, right: SectionOrder) -> Bool {
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        return left.name < right.name
    }
}
