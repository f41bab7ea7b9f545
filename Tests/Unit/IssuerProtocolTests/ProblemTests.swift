import IssuerProtocol
import StrictJSON
import Testing

struct ProblemTests {
    private let body = Array(#"{"status":410,"code":"expired","title":"Gone","detail":"too late"}"#.utf8)

    @Test(arguments: ProblemCode.allCases)
    func `a code that is listed is read back`(code: ProblemCode) throws {
        let problem = Problem(code, title: "t", detail: "d")
        #expect(Problem(bytes: problem.bytes, contentType: "application/problem+json") == problem)
        #expect(problem.status == code.status && (400...422).contains(code.status))
    }

    @Test(arguments: [
        "application/problem+json", "application/problem+json; charset=utf-8", "Application/Problem+JSON ;q=1",
    ])
    func `the content type may have parameters and either case`(contentType: String) {
        #expect(Problem(bytes: body, contentType: contentType)?.code == .expired)
    }

    @Test(arguments: [
        nil, "", "application/json", "text/html", "application/problem+jsonx", "application/problem+xml",
        "x; application/problem+json",
    ])
    func `another content type is no problem of ours`(contentType: String?) {
        #expect(Problem(bytes: body, contentType: contentType) == nil)
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"code":null}"#, #"{"code":410}"#, #"{"code":"Expired"}"#, #"{"code":"gone"}"#,
        #"{"code":"expired","code":"expired"}"#,
    ])
    func `without a code that is listed it ends nothing`(text: String) {
        #expect(Problem(bytes: Array(text.utf8), contentType: "application/problem+json") == nil)
    }

    @Test(arguments: [
        #"{"code":"expired"}"#, #"{"code":"expired","status":"410","title":1,"detail":[]}"#,
        #"{"code":"expired","status":99}"#,
    ])
    func `members that are not of their type are ignored`(text: String) {
        let problem = Problem(bytes: Array(text.utf8), contentType: "application/problem+json")
        #expect(problem == Problem(.expired))
    }

    @Test func `a server may write a problem that ends nothing`() throws {
        let bytes = Problem(status: 503, code: nil, title: "busy").bytes
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"type":"about:blank","status":503,"title":"busy"}"#)
        #expect(Problem(bytes: bytes, contentType: Problem.contentType) == nil)
    }
}
