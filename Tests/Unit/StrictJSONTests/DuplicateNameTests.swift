import StrictJSON
import Testing

struct DuplicateNameTests {
    private let limits = JSONLimits(maxBytes: 10_000)

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, "/a"), (#"{"a":1,"\u0061":2}"#, "/a"), (#"{"b":[0,{"x/~":1,"x/~":2}]}"#, "/b/1/x~1~0"),
        (#"{"":1,"":2}"#, "/"),
    ])
    func `a name that is there twice is refused`(text: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { try JSONReader.value(Array(text.utf8), limits: limits) }
        #expect(error?.reason == .duplicateName(pointer))
    }

    @Test func `names that Unicode calls equivalent are two names`() throws {
        let object = try JSONReader.object(Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8), limits: limits)
        #expect(object.members.count == 2)
        #expect(object["e\u{301}"] == 2)
    }

    @Test func `a document reports each such name once and keeps the first member`() throws {
        let text = #"{"a":1,"b":{"c":1,"c":2},"a":{"d":1,"d":2},"a":3}"#
        let document = try JSONReader.document(Array(text.utf8), limits: limits)
        #expect(document.root == ["a": 1, "b": ["c": 1]])
        #expect(document.duplicateNames == ["/b/c", "/a", "/a/d"])
    }

    @Test func `of deeper ones 16 are reported, of the root's all`() throws {
        func twice(_ count: Int) -> String { (1...count).map { "\"n\($0)\":0,\"n\($0)\":0" }.joined(separator: ",") }
        let text = "{\"deep\":{\(twice(17))},\(twice(17))}"
        let names = try JSONReader.document(Array(text.utf8), limits: limits).duplicateNames
        #expect(names.count == 16 + 17)
        #expect(names.contains("/deep/n16") && !names.contains("/deep/n17") && names.contains("/n17"))
    }
}
