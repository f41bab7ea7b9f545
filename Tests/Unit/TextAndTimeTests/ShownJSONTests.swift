import Foundation
import Testing

@testable import TextAndTime

@Suite struct ShownJSONTests {
    @Test(arguments: [
        ("\u{7F}", #"\u007f"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{202E}", #"\u202e"#), ("\u{200B}", #"\u200b"#),
        ("\u{2028}", #"\u2028"#), ("\u{FEFF}", #"\ufeff"#), ("\u{E0041}", #"\udb40\udc41"#), ("\u{E000}", #"\ue000"#),
    ])
    func `what a terminal obeys or does not show is an escape of JSON's`(text: String, escaped: String) throws {
        let json = "{\"merchantName\":\"a\(text)b\"}"
        let shown = ShownJSON.escaped(json)
        #expect(shown == "{\"merchantName\":\"a\(escaped)b\"}")
        let read = try JSONDecoder().decode([String: String].self, from: Data(shown.utf8))
        #expect(read == ["merchantName": "a\(text)b"])
    }

    @Test(arguments: ["{}", "[1,\n 2]\r\n\t", #"{"a":"Dæmø \u001b \\ \" 😀 é 漢字"}"#])
    func `all else stays byte for byte`(json: String) {
        #expect(Array(ShownJSON.escaped(json).utf8) == Array(json.utf8))
    }

    @Test func `what is escaped comes back as it was, of each block`() throws {
        let values = [UInt32](0x20...0x2FFF) + stride(from: 0x3000, to: 0x10FFFF, by: 127)
        let scalars = values.compactMap(Unicode.Scalar.init).filter { $0 != "\"" && $0 != "\\" }
        let text = String(String.UnicodeScalarView(scalars))
        let shown = ShownJSON.escaped("[\"\(text)\"]")
        let unfit = shown.unicodeScalars.filter(\.isUnfitToShow)
        #expect(unfit.isEmpty)
        let read = try JSONDecoder().decode([String].self, from: Data(shown.utf8))
        let scalarsRead = read.first.map { Array($0.unicodeScalars) }
        #expect(scalarsRead == Array(text.unicodeScalars))
    }
}
