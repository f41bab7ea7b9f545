import Control
import Foundation
import Testing
import Yams

@testable import ControlServer
@testable import Journal

/// The server's calls against openapi/agent.yaml.
@Suite struct ControlRouteTests {
    private let file: Node
    private let bytes: [UInt8]

    init() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../openapi/agent.yaml")
        bytes = [UInt8](try Data(contentsOf: url.standardizedFileURL))
        file = try #require(try Yams.compose(yaml: String(decoding: bytes, as: UTF8.self)))
    }

    /// "GET /v1/status" and the operation.
    private var operations: [String: Node] {
        let paths = file["paths"]?.mapping ?? [:]
        var found: [String: Node] = [:]
        for (path, item) in paths {
            for (method, operation) in item.mapping ?? [:] {
                found["\(method.string?.uppercased() ?? "") \(path.string ?? "")"] = operation
            }
        }
        return found
    }

    private func operation(of route: ControlRoute) throws -> Node {
        try #require(operations["\(route.method) \(route.path)"])
    }

    @Test func `the calls of the server are those of the file, both ways`() {
        #expect(Set(operations.keys) == Set(ControlRoute.allCases.map { "\($0.method) \($0.path)" }))
        #expect(operations.count == ControlRoute.allCases.count)
    }

    @Test(arguments: ControlRoute.allCases)
    func `a call takes the right and answers with the type that the file says`(route: ControlRoute) throws {
        let operation = try operation(of: route)
        #expect(operation["operationId"]?.string == "\(route)")
        #expect(operation["x-right"]?.string == "\(route.right)")
        // By its text: a number that is asked for is not equal to one in quotes.
        let good = try #require(operation["responses"]?.mapping?.first { $0.key.string?.first == "2" }?.value)
        let name = good["$ref"]?.string?.split(separator: "/").last.map(String.init)
        let answer = try #require(name.map { file["components"]?["responses"]?[$0] } ?? good)
        #expect(answer["content"]?.mapping?.keys.map(\.string) == [route.mediaType])
    }

    @Test(arguments: ControlRoute.allCases)
    func `a call's query has the names that the file says`(route: ControlRoute) throws {
        let parameters = try operation(of: route)["parameters"]?.sequence.map(Array.init) ?? []
        let names = parameters.compactMap { parameter -> String? in
            let reference = parameter["$ref"]?.string?.split(separator: "/").last.map(String.init)
            let own = reference.flatMap { file["components"]?["parameters"]?[$0] } ?? parameter
            return own["in"]?.string == "query" ? own["name"]?.string : nil
        }
        #expect(names == route.parameters)
    }

    @Test func `the file has every code that a problem can have`() {
        let problem = file["components"]?["schemas"]?["Problem"]?["properties"]
        let codes = problem?["code"]?["enum"]?.sequence?.compactMap(\.string)
        #expect(codes == ErrorToken.allCases.map(\.rawValue))
        let numbers = problem?["d1Code"]?["enum"]?.sequence?.compactMap(\.int)
        #expect(Set(numbers ?? []) == Set(ErrorToken.allCases.map(\.d1Code.rawValue)))
    }

    @Test func `the commands of the file have the members that the agent reads`() {
        func names(_ schema: String) -> [String] {
            file["components"]?["schemas"]?[schema]?["properties"]?.mapping?.keys.compactMap(\.string) ?? []
        }
        #expect(names("EnrollCommand") == EnrollCommand.memberNames)
        #expect(names("PersonaCommand") == PersonaCommand.memberNames)
        #expect(names("UnenrollCommand") == UnenrollCommand.memberNames)
        #expect(names("PINChangeCommand") == PINChangeCommand.memberNames)
        #expect(names("ClockCommand") == ClockCommand.memberNames)
        #expect(names("ForEnrollmentCommand") == FetchCommand.memberNames)
        #expect(names("ForEnrollmentCommand") == PushRotateCommand.memberNames)
        #expect(names("ApproveCommand") == DecideCommand.memberNames.filter { $0 != "reason" })
        #expect(names("DenyCommand") == DecideCommand.memberNames.filter { $0 != "pin" })
    }

    @Test(arguments: ["/v1", "/v1/", "/v2/status", "/v1/status/", "//v1/status", "/v1/requests/a/b/c", ""])
    func `what is no path of the file has no call`(path: String) {
        #expect(ControlRoute.all(at: path) == [])
    }

    @Test func `every call that changes something or holds keys takes a right to decide`() {
        let changing = ControlRoute.allCases.filter { $0.method != "GET" } + [.backup]
        #expect(Set(changing) == Set(ControlRoute.allCases.filter { $0.right == .decide }))
        #expect(ControlRoute.allCases.filter { $0.right == .own } == [.exportKey, .exportPublicKey])
        #expect(ControlRoute.allCases.allSatisfy { $0.right >= .look })
    }

    @Test(arguments: [
        "0", "17", "9223372036854775807", "0000000000000000017", "00000000000000000017", "alpha:17,beta:4",
        "alpha:9223372036854775807", "a.b-c:00000000000000000001", "", "alpha", "Alpha:1", "alpha:1,", "17,beta:4",
    ])
    func `a cursor has the form of the file exactly if the server takes it`(text: String) throws {
        let pattern = try #require(file["components"]?["schemas"]?["Cursor"]?["pattern"]?.string)
        let isOfForm = try text.wholeMatch(of: Regex(pattern)) != nil
        #expect(isOfForm == (EventCursor(text) != nil))
    }

    @Test func `a cursor has as many bytes and hosts in the file as the server takes`() throws {
        let cursor = try #require(file["components"]?["schemas"]?["Cursor"])
        #expect(cursor["maxLength"]?.int == EventCursor.maxBytes)
        #expect(cursor["pattern"]?.string?.contains("{0,\(EventCursor.maxHosts - 1)}") == true)
    }

    @Test(arguments: ["application/json", " \tApplication/JSON\t ", "application/json ; charset=utf-8"])
    func `a media type is known with spaces around it and whatever its parameters`(field: String) {
        #expect(MediaRanges.type(of: field) == "application/json")
    }

    @Test(arguments: ["", " ", "\t;", " application / json"])
    func `what is between the spaces is kept`(field: String) {
        #expect(MediaRanges.type(of: field) == field.filter { $0 != ";" }.trimmingCharacters(in: .whitespaces))
    }

    @Test(arguments: [("/v1/requests/a/approve", "POST"), ("/v1/status", "GET")])
    func `a path has its own calls, and no other path has them`(path: String, method: String) {
        #expect(ControlRoute.all(at: path).map(\.method) == [method])
        for other in [path + "/", "/" + path, String(path.dropFirst()), path + "\u{301}", path.uppercased()] {
            #expect(ControlRoute.all(at: other).isEmpty)
        }
    }
}
