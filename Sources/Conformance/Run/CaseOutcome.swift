package import StrictJSON

/// Why a case ended early.
package enum CaseEnd: Error, Sendable {
    /// The tested side did something else than the protocol says.
    case failed(String)
    /// The tested side has not what the case needs; nothing is known.
    case notShown(String)
    /// A command of the tested side did not do what it is for; nothing is known, and the run has not passed.
    case broken(String)
}

/// What came of one case.
package struct CaseOutcome: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case passed, failed, notShown, broken
    }

    package let header: CaseHeader
    package let verdict: Verdict
    /// One sentence; nil if it passed.
    package let cause: String?
    package let milliseconds: Int
    package let exchanges: [Exchange]

    /// Whether the run fails by it.
    package var fails: Bool { verdict == .failed && header.level == .must }

    package var json: JSONObject {
        var json: JSONObject = [
            "name": .string(header.name), "title": .string(header.title), "section": .string(header.section),
            "statement": .string(header.statement), "level": .string(header.level.rawValue),
            "verdict": .string(verdict.rawValue), "milliseconds": .integer(Int64(milliseconds)),
        ]
        json["cause"] = cause.map(JSONValue.string)
        if verdict == .failed || verdict == .broken { json["exchanges"] = .array(exchanges.map(\.json)) }
        return json
    }
}

/// A run over many cases.
package struct RunOutcome: Sendable {
    /// `issuer` or `approver`.
    package let side: String
    /// What was tested: the issuer's URL or the approver's command.
    package let tested: String
    package let seed: UInt64
    package let milliseconds: Int
    /// In the order of their sections and names.
    package let cases: [CaseOutcome]
    /// The cases' names as they ended; with one job that is the order in which they were played.
    package let order: [String]

    /// - Parameter cases: as they ended.
    package init(side: String, tested: String, seed: UInt64, milliseconds: Int, cases: [CaseOutcome]) {
        self.side = side
        self.tested = tested
        self.seed = seed
        self.milliseconds = milliseconds
        order = cases.map(\.header.name)
        self.cases = cases.sorted { SectionOrder($0.header) < SectionOrder($1.header) }
    }

    package func count(_ verdict: CaseOutcome.Verdict) -> Int { cases.count { $0.verdict == verdict } }

    /// 0: nothing failed; 1: something failed; 2: it could not be told, because a command did not work or no case was
    /// shown.
    package var exitStatus: Int32 {
        if cases.contains(where: \.fails) { return 1 }
        return count(.broken) > 0 || !cases.contains { $0.verdict == .passed || $0.verdict == .failed } ? 2 : 0
    }

    /// "148 passed, 2 failed, 1 failed (should), 12 not shown".
    package var summary: String {
        let advice = cases.count { $0.verdict == .failed && !$0.fails }
        let counts = [
            (count(.passed), "passed"), (count(.failed) - advice, "failed"), (advice, "failed (should)"),
            (count(.broken), "could not be run"), (count(.notShown), "not shown"),
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

/// Sections by their numbers: 9 before 10.
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
