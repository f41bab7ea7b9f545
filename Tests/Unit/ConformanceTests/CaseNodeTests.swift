import StrictJSON
import Testing
import WrongAssertions

@testable import Conformance

/// Case files are read strictly: whatever is wrong is one error with file and line.
struct CaseNodeTests {
    private func step(_ text: String) throws -> IssuerStep {
        try IssuerStep(try CaseNode(Array(text.utf8), path: "one.yaml"))
    }

    @Test(arguments: [
        ("decide: {request: a, wrongg: x}", "one.yaml:1: wrongg: no such member"),
        ("decide: {wrong: badSignature}", "one.yaml:1: request is missing"),
        ("decide: {request: a, wrong: x}", "one.yaml:1: x: "),
        ("decide: {request: a, decision: maybe}", "one.yaml:1: decision must be approve or deny"),
        ("fetch: {}\nexpect: {status: 99}", "one.yaml:2: status must be 100 to 599"),
        ("fetch: {}\ndecide: {request: a}", "one.yaml:1: a step has one of"),
        ("fetch: {}\ntimes: 0", "one.yaml:2: must be a whole number from 1 to 1000"),
        ("clock: {seconds: 1e9}", "one.yaml:1: must be a whole number"),
        ("fetch: 1", "one.yaml:1: must have members"),
        ("purchase: {payment: 1}", "one.yaml:1: payment must have members"),
        ("call: {}", "one.yaml:1: endpoint is missing"),
        ("poll: {wait: 61}", "one.yaml:1: must be a whole number from 1 to 60"),
    ])
    func `a step that is wrong is an error that says where and what`(text: String, error: String) throws {
        let thrown = #expect(throws: CaseFileError.self) { try step(text) }
        #expect(thrown?.description.hasPrefix(error) == true, "\(thrown?.description ?? "")")
    }

    @Test func `a plain word of YAML is the JSON that it looks like, and a quoted one a string`() throws {
        let node = try CaseNode(
            Array(#"{a: 1, b: "1", c: true, d: null, e: [x, -2], f: {g: 1.5}}"#.utf8), path: "one.yaml")
        let json: JSONValue = ["a": 1, "b": "1", "c": true, "d": nil, "e": ["x", -2], "f": ["g": "1.5"]]
        #expect(node.json == json)
    }

    @Test func `what is not given is as the case format says`() throws {
        guard case .decide(let order) = try step("decide: {request: a}").action else { throw CancellationError() }
        #expect(order.isApproval && order.isVerified && order.wrong == .none && order.token == .own)
        guard case .call(let call) = try step("call: {endpoint: x}").action else { throw CancellationError() }
        #expect(call.token == .none && call.method == "POST")
        #expect(try step("fetch: {}").cardholder == "first")
    }
}
