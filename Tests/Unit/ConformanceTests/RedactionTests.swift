import IssuerProtocol
import StrictJSON
import Testing

@testable import Conformance

/// The one rule by which codes and tokens are taken out of what is reported.
struct RedactionTests {
    private func redacted(_ text: String, _ secrets: String..., left: Int = 0) -> String {
        let known = KnownSecrets()
        for secret in secrets { known.add(secret) }
        return known.redaction.redacted(Excerpt(text: text, left: left)).text
    }

    @Test(arguments: [
        "s3cret/+=code", "s3cret%2F%2B%3Dcode", "s3cret%2f%2b%3dcode", #"s3cret\/+=code"#, #"s3cret\u002F\u002b=code"#,
        #"\u00733cret/+=code"#, "%733cret/+=code",
    ])
    func `a value is taken out in whatever form it stands`(form: String) {
        #expect(redacted("before \(form) behind", "s3cret/+=code") == "before (redacted) behind")
        #expect(redacted(form + form, "s3cret/+=code") == "(redacted)(redacted)")
    }

    @Test func `a value that has escapes in it is found as it is and as JSON writes it`() {
        let value = #"a\b"c%41xyz"#
        #expect(redacted(#"a\b"c%41xyz and a\\b\"c%41xyz"#, value) == "(redacted) and (redacted)")
        #expect(redacted(#"é€ "\u00e9\u20AC", %C3%A9%E2%82%AC"#, "é€") == "*** \"(redacted)\", (redacted)")
    }

    @Test func `a text grows by nothing that is taken out of it`() {
        #expect(redacted("abcabcabc", "abc") == "*********")
        #expect(redacted("ab, and a", "ab") == "ab, and a", "so short a value stands in every text by chance")
    }

    @Test func `of two values the longer one counts`() {
        #expect(redacted("code-1234567890", "code-1", "code-1234567890") == "(redacted)")
    }

    @Test(arguments: 1...20) func `a text that was cut within a value has no part of it`(kept: Int) {
        let value = "Qk3x/9fLm2Vd7Zt0Wb5H"
        let cut = String(value.utf8.prefix(kept)) ?? ""
        #expect(!redacted("~~~~ \(cut)", value, left: 1).contains("Q"))
        #expect(redacted("~~~~ \(cut)", value).contains("Q") == (kept < value.utf8.count), "nothing was cut off there")
    }

    @Test func `an escape that was cut within a value is no part of it either`() {
        #expect(redacted(#"x Qk3x\u00"#, "Qk3x/9fLm2Vd7Zt0Wb5H", left: 4) == "x ***")
        #expect(redacted("x Qk3x%2", "Qk3x/9fLm2Vd7Zt0Wb5H", left: 4) == "x ***")
    }

    @Test(arguments: [
        #"{"a": [{"accessToken" : "token-1"}], "enrollmentCode":"code-11", "keys": {"auth": "auth-11"}}"#,
        #"{"accessToken": "token-1"} rest {"enrollmentCode": "code-11"}{"auth":"auth-11""#,
        #"{"accessToken": "t\u006fken-1", "enrollmentCode": "code\u002d11", "pin":"auth-11"#,
    ])
    func `the secrets of a body are known by their names, also if it is no JSON`(body: String) {
        let known = KnownSecrets()
        known.add(from: Array(body.utf8))
        let shown = known.redaction.redacted("token-1 code-11 auth-11 p256dh")
        #expect(shown == "*** *** *** p256dh")
    }

    @Test func `what a problem says is never taken out`() throws {
        let known = KnownSecrets()
        for code in ProblemCode.allCases {
            known.add(code.rawValue)
            let problem = Problem(status: code.status, code: code, title: nil, detail: nil).json.serialized()
            known.add(from: problem)
            #expect(known.redaction.redacted(String(decoding: problem, as: UTF8.self)).contains(code.rawValue))
        }
        known.add(from: Array(#"{"code":"my_own_code"}"#.utf8))
        #expect(known.redaction.redacted("my_own_code") == "my_own_code")
    }

    @Test func `what bodies hold is bounded, and what the kit was given is known all the same`() {
        let known = KnownSecrets()
        for body in 0..<50 {
            let members = (0..<20).map { #""accessToken":"\#(String(repeating: "x", count: 6_000))-\#(body)-\#($0)""# }
            known.add(from: Array("{\(members.joined(separator: ","))}".utf8))
        }
        known.add("the code of the command")
        #expect(known.redaction.redacted("the code of the command") == "(redacted)")
        #expect(known.bytesOfBodies <= 4 * 1_048_576 + Exchange.maxBody)
    }

    @Test func `no form of a report has a value, whichever part of it it came in`() throws {
        let (code, wire) = ("abc-def-ghi", KnownSecrets())
        let trace = Trace()
        trace.add(
            Exchange(
                sent: "GET http://localhost/?code=abc-def%2Dghi", sentBody: Array(code.utf8),
                received: "HTTP 200 \(code)", receivedBody: Array(#"{"x":"abc\u002ddef-ghi"}"#.utf8), milliseconds: 1))
        // It is known only after it was sent and received.
        wire.add(code)
        let header = try CaseHeader(
            try CaseNode(Array("title: T\nsection: 8\nstatement: S\nlevel: must\n".utf8), path: "one.yaml"),
            name: "one", others: [], commands: [])
        let outcome = RunOutcome(
            side: "issuer", tested: "http://localhost:1", seed: 1, milliseconds: 1,
            cases: [
                CaseOutcome(
                    header: header, verdict: .failed, cause: "answered \(code)", milliseconds: 1,
                    exchanges: trace.exchanges)
            ], secrets: wire)
        let report = RunReport(outcome, version: "1")
        for text in [report.html, report.junit, report.json, report.table] {
            #expect(!text.contains("abc") && !text.contains("ghi"))
            #expect(text.contains("answered (redacted)"))
        }
        #expect(report.json.contains(#"{\"x\":\"(redacted)\"}"#))
    }
}
