import StrictJSON
import Testing

@testable import Conformance

/// What of a run is written where people and programs read it.
struct RunReportTests {
    private func node(_ text: String) throws -> CaseNode { try CaseNode(Array(text.utf8), path: "one.yaml") }

    private func header(_ name: String, section: String = "8", level: String = "must") throws -> CaseHeader {
        let text = """
            title: An assertion with <b>another</b> origin & more is refused, at whatever length the title has, past 80
            section: \(section)
            statement: "x"
            level: \(level)
            """
        return try CaseHeader(try node(text), name: name, others: [], commands: [])
    }

    private func outcome(
        _ name: String, _ verdict: CaseOutcome.Verdict, section: String = "8", level: String = "must",
        cause: String? = nil, exchanges: [Exchange] = []
    ) throws -> CaseOutcome {
        let trace = Trace()
        for exchange in exchanges { trace.add(exchange) }
        return CaseOutcome(
            header: try header(name, section: section, level: level), verdict: verdict, cause: cause, milliseconds: 7,
            exchanges: trace.exchanges)
    }

    private func run(_ cases: [CaseOutcome]) -> RunOutcome {
        RunOutcome(side: "issuer", tested: "http://localhost:1", seed: 1, milliseconds: 1_234, cases: cases)
    }

    @Test func `a run fails by a must alone, and cannot be told if a command did not work or nothing was shown`() throws
    {
        let passed = try outcome("a", .passed)
        #expect(run([passed]).exitStatus == 0)
        #expect(run([passed, try outcome("b", .failed)]).exitStatus == 1)
        #expect(run([passed, try outcome("b", .failed, level: "should")]).exitStatus == 0)
        #expect(run([passed, try outcome("b", .notShown)]).exitStatus == 0)
        #expect(run([passed, try outcome("b", .broken)]).exitStatus == 2)
        #expect(run([try outcome("b", .broken), try outcome("c", .failed)]).exitStatus == 1)
        #expect(run([try outcome("b", .notShown)]).exitStatus == 2)
        #expect(run([passed, try outcome("b", .notRun)]).exitStatus == 2)
        #expect(run([passed, try outcome("b", .notRun), try outcome("c", .failed)]).exitStatus == 1)
    }

    @Test func `cases come in the order of their sections, by number`() throws {
        let cases = try ["10", "9", "4.2", "4.1"].map { try outcome("s\($0)", .passed, section: $0) }
        #expect(run(cases).cases.map(\.header.section) == ["4.1", "4.2", "9", "10"])
        #expect(run(cases).order == ["s10", "s9", "s4.2", "s4.1"])
    }

    @Test func `a case is within its section and those above it, and within no other`() throws {
        let header = try header("a", section: "6.1")
        #expect(["6", "6.1"].allSatisfy(header.isIn))
        #expect(!["6.2", "61", "1", "6.", "6.1.1"].contains(where: header.isIn))
    }

    @Test func `text of a peer cannot leave its place in a report or on a terminal`() throws {
        let hostile = "</pre><script>alert(1)</script>\u{1B}[2J\u{202E}\u{0}"
        let exchange = Exchange(
            sent: "POST x", sentBody: [], received: "HTTP 200", receivedBody: Array(hostile.utf8),
            milliseconds: 1)
        let report = RunReport(
            run([try outcome("a", .failed, cause: "answered \(hostile)", exchanges: [exchange])]), version: "1")
        for text in [report.html, report.junit, report.table] {
            let scalars = Set(text.unicodeScalars)
            #expect(scalars.isDisjoint(with: ["\u{1B}", "\u{202E}", "\u{0}"]))
        }
        #expect(!(report.html.contains("<script>")))
        #expect(!(report.junit.contains("<script>")))
        #expect(report.html.contains("&lt;script&gt;"))
        // A combining mark makes one character with the quotation mark, which alone would still end an attribute.
        let marked = RunReport(run([try outcome("a", .failed, cause: "\"\u{301}")]), version: "1")
        for text in [marked.html, marked.junit] {
            #expect(text.unicodeScalars.contains("\u{301}"))
            #expect(
                !zip(text.unicodeScalars, text.unicodeScalars.dropFirst()).contains { $0 == "\"" && $1 == "\u{301}" })
        }
        // What the kit's own files say is escaped as well, and not cut.
        #expect(report.html.contains("&lt;b&gt;another&lt;/b&gt; origin &amp; more is refused, at whatever"))
        #expect(report.html.contains("past 80"))
    }

    @Test func `a failed should is no failure for a reader of JUnit, and is told apart in the summary`() throws {
        let run = run([try outcome("a", .passed), try outcome("b", .failed, level: "should", cause: "why")])
        #expect(run.summary == "1 passed, 0 failed, 1 failed (should)")
        let junit = RunReport(run, version: "1").junit
        #expect(!junit.contains("<failure") && junit.contains(#"<skipped message="why"/>"#))
    }

    @Test func `what was not run is an error for a reader of JUnit, and one line on the terminal`() throws {
        let limit = "the run was over after 5 s (--time-limit)"
        let run = run(
            [try outcome("a", .passed)] + (try (1...50).map { try outcome("b\($0)", .notRun, cause: limit) }))
        let report = RunReport(run, version: "1")
        #expect(run.summary == "1 passed, 0 failed, 50 not run")
        #expect(report.junit.contains(#"errors="50""#) && report.junit.contains(#"<error message="\#(limit)">"#))
        #expect(report.table.contains("Not run:\n  50 cases: \(limit)\n"))
        #expect(!report.table.contains("b1"))
        #expect(report.badge.contains("1 of 1 musts") && report.badge.contains("-red"))
    }

    @Test func `the badge counts what was shown of the musts`() throws {
        let run = run([
            try outcome("a", .passed), try outcome("b", .failed), try outcome("c", .notShown),
            try outcome("d", .failed, level: "should"),
        ])
        let badge = RunReport(run, version: "1").badge
        #expect(badge.contains("1 of 2 musts") && badge.contains("-red"))
    }
}
