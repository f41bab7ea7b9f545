import PageServing
import StrictJSON
import TextAndTime

/// The report of a run, as files and as text for a terminal.
package struct RunReport: Sendable {
    /// The limit of each form, in bytes.
    package static let limit = 20_000_000

    private let outcome: RunOutcome
    /// The version of the program.
    private let version: String

    package init(_ outcome: RunOutcome, version: String) {
        self.outcome = outcome
        self.version = version
    }

    /// A table with one line for each section, one for each case that did not pass, and the summary.
    package var table: String {
        var lines = ["section  passed  failed  not shown"]
        for section in sections {
            let cases = outcome.cases.filter { $0.header.section == section }
            func count(_ verdicts: CaseOutcome.Verdict...) -> Int { cases.count { verdicts.contains($0.verdict) } }
            lines.append(
                [
                    Self.padded(section, to: 7), Self.right(count(.passed), 6), Self.right(count(.failed, .broken), 6),
                    Self.right(count(.notShown, .notRun), 9),
                ].joined(separator: "  "))
        }
        for (verdict, title) in [
            (CaseOutcome.Verdict.failed, "Failed:"), (.broken, "Could not be run:"), (.notShown, "Not shown:"),
        ] {
            let cases = outcome.cases.filter { $0.verdict == verdict }
            guard !cases.isEmpty else { continue }
            lines += ["", title]
            for one in cases {
                let level = verdict == .failed && !one.fails ? " (should)" : ""
                lines.append("  \(one.header.name)\(level): \(one.cause)")
            }
        }
        // Thousands of cases may have the same cause.
        let notRun = outcome.cases.filter { $0.verdict == .notRun }
        if let first = notRun.first { lines += ["", "Not run:", "  \(notRun.count) cases: \(first.cause)"] }
        lines += ["", "\(outcome.summary); seed \(outcome.seed), \(Self.seconds(outcome.milliseconds)) s"]
        return lines.joined(separator: "\n")
    }

    package var json: String { String(decoding: outcome.json.serialized(), as: UTF8.self) }

    /// A Markdown badge with the counts, for a README.
    package var badge: String {
        let musts = outcome.cases.filter {
            $0.header.level == .must && $0.verdict != .notShown && $0.verdict != .notRun
        }
        let passed = musts.count { $0.verdict == .passed }
        let text = "\(passed) of \(musts.count) musts"
        let colour = outcome.exitStatus == 0 ? "brightgreen" : "red"
        let path = "issuer_protocol_1-\(PercentEncoding.encode(text))-\(colour)"
        return "![\(outcome.side), issuer protocol 1: \(text)](https://img.shields.io/badge/\(path))"
    }

    /// The report as JUnit XML, with one `testcase` for each case.
    package var junit: String { Self.templates.render("junit", context) }

    /// The report as one HTML page that loads no other file.
    package var html: String { Self.templates.render("html", context) }

    private static let templates = PageTemplates([("junit", text: Templates.junit), ("html", text: Templates.html)])

    private var sections: [String] {
        var sections: [String] = []
        for one in outcome.cases where sections.last != one.header.section { sections.append(one.header.section) }
        return sections
    }

    /// The values for the templates.
    ///
    /// Mustache escapes the values that it inserts. Control characters, which XML does not allow, are escaped here.
    private var context: [String: Any] {
        [
            "side": outcome.side, "tested": ReportText.of(outcome.tested), "version": version,
            "seed": String(outcome.seed), "seconds": Self.seconds(outcome.milliseconds), "summary": outcome.summary,
            "tests": outcome.cases.count, "failures": outcome.cases.count(where: \.fails),
            "errors": outcome.count(.broken) + outcome.count(.notRun), "skipped": outcome.count(.notShown),
            "passed": outcome.exitStatus == 0,
            "sections": sections.map { section in
                [
                    "section": section,
                    "cases": outcome.cases.filter { $0.header.section == section }.map(Self.context),
                ] as [String: Any]
            },
        ]
    }

    private static func context(_ one: ShownCase) -> [String: Any] {
        return [
            "name": one.header.name, "title": ReportText.of(one.header.title),
            "statement": ReportText.of(one.header.statement), "section": one.header.section,
            "level": one.header.level.rawValue, "seconds": seconds(one.milliseconds),
            "cause": one.cause, "verdict": one.verdict.words, "class": one.verdict.rawValue,
            "isFailure": one.fails, "isError": one.verdict == .broken || one.verdict == .notRun,
            // A failed `should` does not fail the run, so JUnit's readers get it as skipped.
            "isSkipped": one.verdict == .notShown || (one.verdict == .failed && !one.fails),
            "hasExchanges": !one.exchanges.isEmpty, "leftOut": one.sentence,
            "exchanges": one.exchanges.map { exchange in
                [
                    "sent": exchange.sent, "sentBody": exchange.sentBody, "received": exchange.received,
                    "receivedBody": exchange.receivedBody,
                    "milliseconds": exchange.milliseconds,
                ] as [String: Any]
            },
        ]
    }

    private static func seconds(_ milliseconds: Int) -> String {
        let tenths = (milliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: " ", count: max(0, width - digits.count)) + digits
    }
}

extension CaseOutcome.Verdict {
    fileprivate var words: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .notShown: "not shown"
        case .broken: "could not be run"
        case .notRun: "not run"
        }
    }
}
