import StrictJSON
import Testing

struct WritingTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `members keep their order and numbers their lexeme`() {
        let value: JSONValue = ["b": [.number("1.0"), true, false, nil], "a": ["x": -1]]
        #expect(text(value.serialized()) == #"{"b":[1.0,true,false,null],"a":{"x":-1}}"#)
    }

    @Test func `only quote, backslash and control characters are escaped`() {
        let value: JSONValue = "\"\\/\u{08}\t\n\u{0C}\r\u{0}\u{F}\u{10}\u{1F}\u{7F}é\u{2028}😀"
        let expected = #""\"\\/\b\t\n\f\r\u0000\u000f\u0010\u001f"# + "\u{7F}é\u{2028}😀\""
        #expect(text(value.serialized()) == expected)
    }

    @Test func `what was written is read back`() throws {
        let value: JSONValue = ["\u{0}\"": ["é", nil, 9_007_199_254_740_993]]
        #expect(try JSONReader.value(value.serialized(), limits: JSONLimits(maxBytes: 100)) == value)
    }

    // RFC 8785 §3.2.3
    @Test func `RFC 8785's own example of sorting`() throws {
        let input = #"""
            {"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
             "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
             "\u00f6": "Latin Small Letter O With Diaeresis"}
            """#
        let value = try JSONReader.value(Array(input.utf8), limits: JSONLimits(maxBytes: 1_000))
        let expected =
            #"{"\r":"Carriage Return","1":"One",""# + "\u{80}\":\"Control\",\"\u{F6}"
            + #"":"Latin Small Letter O With Diaeresis",""# + "\u{20AC}\":\"Euro Sign\",\"\u{1F600}"
            + #"":"Emoji: Grinning Face",""# + "\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        #expect(try RFC8785.canonical(value) == Array(expected.utf8))
    }

    // RFC 8785 §3.2.3
    @Test func `names are sorted by their UTF-16 code units`() throws {
        let parts = ["", "a", "\u{7F}", "\u{80}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"]
        let names = parts.flatMap { first in parts.map { first + $0 } }
        let sorted = Set(names).sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }
        let object = JSONObject(Set(names).map { JSONObject.Member(name: $0, value: nil) })
        let expected = JSONObject(distinct: sorted.map { JSONObject.Member(name: $0, value: nil) })
        #expect(try RFC8785.canonical(.object(object)) == expected.serialized())
    }

    // RFC 8785 §3.2.2, without its numbers that are no integers
    @Test func `RFC 8785's own example of strings and literals`() throws {
        let input = #"""
            {"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}
            """#
        let value = try JSONReader.value(Array(input.utf8), limits: JSONLimits(maxBytes: 1_000))
        let expected = #"{"literals":[null,true,false],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(text(try RFC8785.canonical(value)) == expected)
    }

    @Test func `inner objects are sorted too, and arrays are not`() throws {
        #expect(text(try RFC8785.canonical([["b": 1, "a": 2], 0])) == #"[{"a":2,"b":1},0]"#)
    }

    @Test(arguments: ["0", "-1", "9007199254740991", "-9007199254740991"])
    func `an integer that a double holds is canonical`(lexeme: String) throws {
        #expect(text(try RFC8785.canonical(.number(lexeme))) == lexeme)
    }

    @Test(arguments: ["9007199254740992", "-9007199254740992", "-0", "1.0", "1e3", "99999999999999999999"])
    func `any other number is not`(lexeme: String) {
        #expect(throws: RFC8785Error(number: lexeme)) { try RFC8785.canonical([.number(lexeme)]) }
    }
}
