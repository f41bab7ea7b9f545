import StrictJSON
import Testing

struct JSONReaderTests {
    private let limits = JSONLimits(maxBytes: 1_000)

    @Test(
        arguments: [
            ("null", nil), (" \t\r\n true \n", true), ("false", false), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("0", 0), ("-12", -12), ("-0", .number("-0")), ("0.10", .number("0.10")), ("1e+05", .number("1e+05")),
            ("2E-0", .number("2E-0")), ("[1,[2] , {}]", [1, [2], [:]]),
            (#"{"b":1,"a":[null]}"#, ["b": 1, "a": [nil]]),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{08}\u{0C}\n\r\t"), (#""\u0000\u00e9\uFFFF""#, "\u{0}\u{E9}\u{FFFF}"),
            (#""\ud83d\uDE00\udbff\udfff""#, "\u{1F600}\u{10FFFF}"), ("\"æ😀\u{7F}\"", "æ😀\u{7F}"),
        ] as [(String, JSONValue)])
    func `strict JSON is read`(text: String, expected: JSONValue) throws {
        #expect(try JSONReader.value(Array(text.utf8), limits: limits) == expected)
    }

    @Test(arguments: [
        "", " ", "\u{FEFF}1", "1 2", "{} x", "nul", "nulll", "True", "NaN", "Infinity", "-", "+1", "01", "-01", "1.",
        ".5",
        "1e", "1e+", "0x1", "'a'", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uD800\"",
        "\"\\uD800x\"", "\"\\uD800\\n\"", "\"\\uD800\\u0041\"", "\"\\uDC00\"", "\"\t\"", "\"\u{0}\"", "[", "[1", "[1,",
        "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}",
        "{\"a\" 1}", "{\"a\",1}", "/**/1", "1//", "[1\u{A0}]", "\u{0C}1",
    ])
    func `anything else is a syntax error`(text: String) {
        let error = #expect(throws: JSONError.self) {
            try JSONReader.value(Array(text.utf8), limits: limits)
        }
        guard case .syntax = error?.reason else {
            Issue.record("not a syntax error: \(String(describing: error))")
            return
        }
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
            [0xC3, 0x5C, 0x6E, 0xA9],
        ] as [[UInt8]])
    func `bytes that are no UTF-8 are refused`(bytes: [UInt8]) {
        let text = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        #expect(throws: JSONError(offset: text.count - 1, reason: .notUTF8)) {
            try JSONReader.value(text, limits: limits)
        }
    }

    @Test func `the error says where`() {
        #expect(throws: JSONError(offset: 7, reason: .syntax("a value"))) {
            try JSONReader.value(Array(#"{"a": [}"#.utf8), limits: limits)
        }
    }

    @Test func `the size is bounded`() throws {
        let text = Array("[1, 2]".utf8)
        #expect(try JSONReader.value(text, limits: JSONLimits(maxBytes: 6)) == [1, 2])
        #expect(throws: JSONError(offset: 0, reason: .tooLarge(maxBytes: 5))) {
            try JSONReader.value(text, limits: JSONLimits(maxBytes: 5))
        }
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `the depth is bounded`(open: String, close: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)).utf8)
        }
        _ = try JSONReader.value(nested(16), limits: limits)
        let error = #expect(throws: JSONError.self) { try JSONReader.value(nested(17), limits: limits) }
        #expect(error?.reason == .tooDeep(maxDepth: 16))
    }

    @Test func `the number of values is bounded`() throws {
        let four = Array(#"[1,{"a":2}]"#.utf8)
        _ = try JSONReader.value(four, limits: JSONLimits(maxBytes: 100, maxValues: 4))
        let error = #expect(throws: JSONError.self) {
            try JSONReader.value(four, limits: JSONLimits(maxBytes: 100, maxValues: 3))
        }
        #expect(error?.reason == .tooManyValues(maxValues: 3))
    }

    @Test func `an object is asked for and nothing else taken`() throws {
        #expect(try JSONReader.object(Array("{}".utf8), limits: limits) == [:])
        #expect(throws: JSONError(offset: 0, reason: .notAnObject)) {
            try JSONReader.object(Array("[]".utf8), limits: limits)
        }
    }
}
