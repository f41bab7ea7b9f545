import StrictJSON
import Testing

struct JSONObjectTests {
    private let object: JSONObject = [
        "text": "æ", "whole": 7, "real": .number("1.0"), "power": .number("1e3"), "minusZero": .number("-0"),
        "huge": .number("9223372036854775808"), "flag": true, "list": [1, 2], "inner": ["a": 1], "none": nil,
        "bytes": "AQID", "padded": "AQI=",
    ]

    private func problem(_ body: () throws(JSONMemberError) -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `members are read as what they are`() throws {
        #expect(try object.string("text", bytes: 2...2) == "æ")
        #expect(try object.integer("whole", in: 7...7) == 7)
        #expect(try object.bool("flag"))
        #expect(try object.array("list", count: 2...2) == [1, 2])
        #expect(try object.object("inner") == ["a": 1])
        #expect(try object.base64url("bytes", bytes: 3...3) == [1, 2, 3])
    }

    // Few are compared, many are hashed.
    @Test(arguments: [2, 16, 17, 40])
    func `of members with the same bytes as name the first is kept`(count: Int) {
        // Two that Swift takes for equal, and that are not the same bytes.
        var members = [JSONObject.Member(name: "\u{E9}", value: 1), JSONObject.Member(name: "e\u{301}", value: 2)]
        members += (members.count..<count).map { JSONObject.Member(name: "\($0)", value: .integer(Int64($0))) }
        #expect(JSONObject(members).members == members)
        #expect(JSONObject(members + [JSONObject.Member(name: "e\u{301}", value: 3)]).members == members)
        #expect(JSONObject(members)["e\u{301}"] == 2)
    }

    @Test func `an optional member may be absent or null`() throws {
        for name in ["absent", "none"] {
            #expect(try object.optionalString(name) == nil)
            #expect(try object.optionalInteger(name) == nil)
            #expect(try object.optionalBool(name) == nil)
            #expect(try object.optionalArray(name) == nil)
            #expect(try object.optionalObject(name) == nil)
            #expect(try object.optionalBase64url(name, bytes: 0...9) == nil)
        }
    }

    @Test func `an optional member is read if it is there`() throws {
        #expect(try object.optionalString("text") == "æ")
        #expect(try object.optionalInteger("whole") == 7)
        #expect(try object.optionalBool("flag") == true)
        #expect(try object.optionalArray("list") == [1, 2])
        #expect(try object.optionalObject("inner") == ["a": 1])
        #expect(try object.optionalBase64url("bytes", bytes: 0...9) == [1, 2, 3])
    }

    @Test func `a required member may not be absent or null`() {
        #expect(problem { () throws(JSONMemberError) in _ = try object.string("absent") } == "/absent is missing")
        #expect(problem { () throws(JSONMemberError) in _ = try object.string("none") } == "/none must be a string")
    }

    @Test func `another type is an error, also if the member is optional`() {
        #expect(throws: JSONMemberError.self) { try object.string("whole") }
        #expect(throws: JSONMemberError.self) { try object.optionalString("whole") }
        #expect(throws: JSONMemberError.self) { try object.integer("text") }
        #expect(throws: JSONMemberError.self) { try object.optionalInteger("text") }
        #expect(throws: JSONMemberError.self) { try object.bool("whole") }
        #expect(throws: JSONMemberError.self) { try object.optionalBool("whole") }
        #expect(throws: JSONMemberError.self) { try object.array("inner") }
        #expect(throws: JSONMemberError.self) { try object.optionalArray("inner") }
        #expect(throws: JSONMemberError.self) { try object.object("list") }
        #expect(throws: JSONMemberError.self) { try object.optionalObject("list") }
        #expect(throws: JSONMemberError.self) { try object.base64url("flag", bytes: 0...9) }
        #expect(throws: JSONMemberError.self) { try object.optionalBase64url("flag", bytes: 0...9) }
    }

    @Test(arguments: ["real", "power", "minusZero", "huge"])
    func `a number that is not written as an integer of 64 bits is none`(name: String) {
        #expect(throws: JSONMemberError.self) { try object.integer(name) }
    }

    @Test func `bounds are kept and said`() {
        #expect(
            problem { () throws(JSONMemberError) in _ = try object.string("text", bytes: 0...1) }
                == "/text must have 0 to 1 bytes of UTF-8")
        #expect(
            problem { () throws(JSONMemberError) in _ = try object.integer("whole", in: 8...9) }
                == "/whole must be an integer of 8 to 9")
        #expect(
            problem { () throws(JSONMemberError) in _ = try object.array("list", count: 3...3) }
                == "/list must have exactly 3 elements")
        #expect(throws: JSONMemberError.self) { try object.base64url("bytes", bytes: 4...4) }
        #expect(throws: JSONMemberError.self) { try object.base64url("padded", bytes: 0...9) }
    }

    @Test func `an error of an inner object says the whole path, escaped`() {
        let error = JSONMemberError(path: "/b", problem: "is missing").inside("a/\n")
        #expect(error.path == "/a~1\n/b")
        #expect(error.description == "/a~1\\u{A}/b is missing")
    }

    @Test func `setting replaces in place, appends, or removes`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        object["b"] = .some(nil)
        #expect(object == ["a": 3, "b": nil, "c": 4])
        object["b"] = .none
        #expect(object == ["a": 3, "c": 4])
    }

    @Test func `the first of equal names is kept`() {
        #expect(JSONObject([.init(name: "a", value: 1), .init(name: "a", value: 2)]) == ["a": 1])
    }

    @Test func `equality is by bytes and order`() {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(["a": 1, "b": 2] as JSONObject != ["b": 2, "a": 1])
        #expect(["\u{E9}": 1] as JSONObject != ["e\u{301}": 1])
        #expect(JSONValue.number("1") != .number("1.0"))
    }
}
