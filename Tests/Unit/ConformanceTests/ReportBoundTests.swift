import FoundationEssentials
import Testing

@testable import Conformance

/// How much of what a tested side says is kept and reported: by bytes, and in all.
struct ReportBoundTests {
    /// One letter with a million marks: one character, and 2,000,001 bytes.
    private static let marked = Array(("a" + String(repeating: "\u{301}", count: 1_000_000)).utf8)

    private func exchange(_ body: [UInt8] = marked) -> Exchange {
        Exchange(sent: "POST x", sentBody: body, received: "HTTP 200", receivedBody: body, milliseconds: 1)
    }

    private func playable(_ name: String, _ exchanges: Int, of body: [UInt8] = marked) throws -> PlayableCase {
        let text = "title: T\nsection: 8\nstatement: S\nlevel: must\n"
        let header = try CaseHeader(
            try CaseNode(Array(text.utf8), path: "one.yaml"), name: name, others: [], commands: [])
        let exchange = exchange(body)
        return PlayableCase(header: header, runsAlone: false) { trace in
            for _ in 0..<exchanges { trace.add(exchange) }
            throw CaseEnd.failed(String(decoding: body.prefix(100_000), as: UTF8.self))
        }
    }

    private func outcome(of outcomes: [CaseOutcome]) -> RunOutcome {
        RunOutcome(side: "issuer", tested: "http://localhost:1", seed: 1, milliseconds: 1, cases: outcomes)
    }

    @Test func `of a body so many bytes are kept, cut between two scalars, and the rest is counted`() {
        let one = exchange()
        #expect(one.receivedBody.text.utf8.count == 8_191, "the letter and 4,095 marks of two bytes")
        #expect(one.receivedBody.left == 2_000_001 - 8_191)
        #expect(one.receivedBody.shown.hasSuffix(" … (1991810 more bytes are left out)"))
        let whole = Exchange(
            sent: "", sentBody: Array(repeating: 0x78, count: 8_192), received: "",
            receivedBody: Array(repeating: 0x78, count: 8_193), milliseconds: 1)
        #expect(whole.sentBody.left == 0 && whole.receivedBody.left == 1)
    }

    @Test func `a body that is no text is kept within the same bytes`() {
        let one = Exchange(
            sent: "", sentBody: Array(repeating: 0x80, count: 8_192), received: "",
            receivedBody: Array(repeating: 0x80, count: 100_000), milliseconds: 1)
        for excerpt in [one.sentBody, one.receivedBody] {
            #expect(excerpt.text.utf8.count <= 8_192)
            #expect(excerpt.text.utf8.count / 3 + excerpt.left == (excerpt == one.sentBody ? 8_192 : 100_000))
        }
    }

    @Test func `a case keeps its last exchanges within so many bytes, and counts the others`() {
        let trace = Trace()
        for _ in 0..<1_000 { trace.add(exchange()) }
        let kept = trace.exchanges
        #expect(kept.totalBytes <= Trace.limit)
        #expect(kept.all.count == 15 && kept.leftOut == 985)
    }

    @Test func `each form says how many exchanges are left out`() async throws {
        let one = try playable("one", 40, of: Array(repeating: 0x78, count: 9_000))
        let report = RunReport(
            outcome(of: await CaseRun(seed: 1, jobs: 1).outcomes(of: [one]) { _ in }), version: "1")
        for form in [report.html, report.junit] { #expect(form.contains("25 earlier exchanges are left out.")) }
        #expect(report.json.contains(#""exchangesLeftOut":25"#))
    }

    @Test func `all cases together keep so many bytes, and each has a share`() async throws {
        let body = Array(repeating: UInt8(ascii: "x"), count: 9_000)
        let cases = try (0..<300).map { try playable("case\($0)", 20, of: body) }
        let outcomes = await CaseRun(seed: 1, jobs: 4).outcomes(of: cases) { _ in }
        #expect(outcomes.reduce(0) { $0 + $1.exchanges.totalBytes } <= CaseRun.maxKept)
        #expect(outcomes.allSatisfy { !$0.exchanges.all.isEmpty })
        #expect(outcomes.allSatisfy { $0.cause.map { $0.text.utf8.count <= 1_024 && $0.left > 0 } ?? false })
    }

    @Test(arguments: [UInt8(ascii: "\""), 0x00, UInt8(ascii: "&"), 0x80])
    func `no form of a report has more than its bytes, whatever is escaped in it`(byte: UInt8) async throws {
        let body = Array(repeating: byte, count: 9_000)
        let cases = try (0..<20).map { try playable("case\($0)", 20, of: body) }
        let outcomes = await CaseRun(seed: 1, jobs: 4).outcomes(of: cases) { _ in }
        let limit = 1_000_000
        let outcome = RunOutcome(
            side: "issuer", tested: "http://localhost:1", seed: 1, milliseconds: 1, cases: outcomes, reportLimit: limit)
        #expect(outcome.cases.allSatisfy { $0.leftOut + $0.exchanges.count == 20 && $0.leftOut > 0 })
        #expect(outcome.cases.contains { !$0.exchanges.isEmpty })
        let report = RunReport(outcome, version: "1")
        for form in [report.html, report.junit, report.json] {
            #expect(form.utf8.count <= limit)
            #expect(form.utf8.count > 100_000, "there is room for more than causes")
        }
    }

    @Test func `what has passed keeps nothing`() async throws {
        let passing = try playable("one", 0)
        let one = PlayableCase(header: passing.header, runsAlone: false) { trace in trace.add(exchange()) }
        let outcomes = await CaseRun(seed: 1, jobs: 1).outcomes(of: [one]) { _ in }
        #expect(outcomes.map(\.verdict) == [.passed])
        #expect(outcomes.allSatisfy { $0.exchanges.all.isEmpty })
    }

    @Test func `when a run's time is over what is played is cut off, and the rest is not run`() async throws {
        let header = try playable("one", 0).header
        let hanging = PlayableCase(header: header, runsAlone: false) { _ in try await Task.sleep(for: .seconds(3_600)) }
        let alone = PlayableCase(header: header, runsAlone: true) { _ in }
        let run = CaseRun(seed: 1, jobs: 2, limit: RunLimit(seconds: 1))
        let outcomes = await run.outcomes(of: [hanging, hanging, hanging, alone]) { _ in }
        #expect(outcomes.map(\.verdict) == [.notRun, .notRun, .notRun, .notRun])
        #expect(outcomes.allSatisfy { $0.cause?.text == "the run was over after 1 s (--time-limit)" })
        #expect(outcome(of: outcomes).exitStatus == 2)
    }
}
