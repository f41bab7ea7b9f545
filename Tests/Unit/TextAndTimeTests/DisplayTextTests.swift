import Testing
import TextAndTime

struct DisplayTextTests {
    @Test func `a text of ASCII is written as it is in a text with other letters`() {
        let ascii = (0x1F...0x7F).map { String(Unicode.Scalar(UInt8($0))) }
        let pairs = ascii.flatMap { first in ascii.map { first + $0 } }
        for text in pairs + pairs.map({ "a " + $0 + " b" }) where !text.hasSuffix(" ") {
            let longer = DisplayText(text + "é")
            #expect(longer.text == DisplayText(text).text + "é")
            #expect(longer.hasEscapes == DisplayText(text).hasEscapes)
        }
    }

    @Test(arguments: [
        "CoffeeHouse2 (Dæmø)", "日本の店", "Emoji 🛒 shop", "שלום", "مقهى", "ร้านกาแฟ", "किराना", "e\u{301}", "A & B <C>",
        "Quote \" ' `", "…–—", "", "\u{10400}", "فروشگاه\u{200C}ها", "كَ\u{200C}تَ", "ශ්\u{200D}රී ලංකා",
        "র\u{200D}্যাব", "ക്ഷ\u{D4D}\u{200D}", "क्\u{200C}ष", "株式会社\u{3000}商店", "À table\u{202F}!", "Café ☕\u{FE0F}",
        "❤\u{FE0F}", "👩\u{200D}🍳", "👩\u{200D}💻", "👩🏽\u{200D}🍳", "👨\u{200D}👩\u{200D}👧\u{200D}👦",
        "🏳\u{FE0F}\u{200D}🌈", "🧔\u{200D}♂\u{FE0F}", "❤\u{FE0F}\u{200D}🔥", "©\u{FE0F} Shop", "ರ\u{200D}್ಯಾಲಿ",
        "බුද\u{200D}්ධ",
        "1\u{FE0F}\u{20E3}", "#\u{FE0F}\u{20E3} *\u{FE0F}\u{20E3}", "10\u{A0}€", "葛\u{E0100}飾", "辻\u{E0101}",
    ])
    func `honest text is shown as it is`(text: String) {
        let display = DisplayText(text)
        #expect(display.text.utf8.elementsEqual(text.utf8))
        #expect(!display.hasEscapes)
    }

    @Test(arguments: [
        ("RTL \u{202E}gpj.exe", #"RTL \u{202E}gpj.exe"#), ("zero\u{200B}width", #"zero\u{200B}width"#),
        ("\u{1B}[31mred\u{1B}[0m", #"\u{1B}[31mred\u{1B}[0m"#), ("Tab\tand\nnewline", #"Tab\u{9}and\u{A}newline"#),
        ("\0nul", #"\u{0}nul"#), ("\u{7F}del", #"\u{7F}del"#), ("a\r\nb", #"a\u{D}\u{A}b"#), ("\u{9B}x", #"\u{9B}x"#),
        ("a\u{A0} b", #"a\u{A0} b"#), ("\u{10FFFF}", #"\u{10FFFF}"#), ("a\u{E0041}", #"a\u{E0041}"#),
        ("Pay\u{200D}Pal", #"Pay\u{200D}Pal"#), ("Pay\u{200C}Pal", #"Pay\u{200C}Pal"#),
        ("1\u{FE0F}", #"1\u{FE0F}"#), ("a\u{FE0F}", #"a\u{FE0F}"#), ("☕\u{FE0F}\u{FE0F}", "☕\u{FE0F}" + #"\u{FE0F}"#),
        ("☕\u{FE0E}", #"☕\u{FE0E}"#), ("👩\u{200D}", #"👩\u{200D}"#), ("👩\u{200D}a", #"👩\u{200D}a"#),
        ("👩\u{200D}\u{200D}🍳", #"👩\u{200D}\u{200D}🍳"#), ("©\u{200D}™", #"©\u{200D}™"#),
        ("\u{200D}🍳", #"\u{200D}🍳"#), ("\u{200C}ها", #"\u{200C}ها"#), ("ه\u{200C}", #"ه\u{200C}"#),
        ("ه\u{200C} ا", #"ه\u{200C} ا"#), ("ه\u{200C}\u{200C}ا", #"ه\u{200C}\u{200C}ا"#),
        ("ه\u{200D}ا", #"ه\u{200D}ا"#), ("ا\u{200C}ه", #"ا\u{200C}ه"#), ("クレ\u{200D}ジット", #"クレ\u{200D}ジット"#),
        ("ශ්\u{200D}\u{200D}රී", "ශ්\u{200D}" + #"\u{200D}රී"#), ("র\u{200D}ক", #"র\u{200D}ক"#),
        ("\u{3000}商店", #"\u{3000}商店"#), ("商店\u{3000}", #"商店\u{3000}"#), ("\u{3000}", #"\u{3000}"#),
        ("株\u{3000}\u{3000}商", #"株\u{3000}\u{3000}商"#), ("株 \u{3000}商", #"株 \u{3000}商"#),
        ("株\u{3000} 商", #"株\u{3000} 商"#), ("a\u{202F}\u{202F}!", #"a\u{202F}\u{202F}!"#),
        ("\n\u{3000}商", #"\u{A}\u{3000}商"#), ("Pay\u{17D2}\u{200D}Pal", "Pay\u{17D2}" + #"\u{200D}Pal"#),
        ("Pay\u{1039}\u{200C}Pal", "Pay\u{1039}" + #"\u{200C}Pal"#),
        ("Pay\u{94D}\u{200D}Pal", "Pay\u{94D}" + #"\u{200D}Pal"#), ("ರ\u{200D}್", #"ರ\u{200D}\u{CCD}"#),
        ("क\u{200D}्य", #"क\u{200D}\u{94D}य"#), ("1\u{20E3}", #"1\u{20E3}"#), ("1\u{FE0F}a", #"1\u{FE0F}a"#),
        ("☕\u{FE0F}\u{20E3}", "☕\u{FE0F}" + #"\u{20E3}"#), ("か\u{E0100}", #"か\u{E0100}"#),
        ("🇩\u{FE0F}🇪", #"🇩\u{FE0F}🇪"#),
    ])
    func `hostile text is escaped`(raw: String, shown: String) {
        #expect(DisplayText(raw).text == shown)
        #expect(DisplayText(raw).hasEscapes)
    }

    /// Inclusive ranges, from the standard's charts.
    static let hostile: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x34F...0x34F, 0x378...0x379, 0x600...0x605, 0x61C...0x61C,
        0x6DD...0x6DD, 0x70F...0x70F, 0x115F...0x1160, 0x1680...0x1680, 0x17B4...0x17B5, 0x180B...0x180F,
        0x2000...0x200F, 0x2028...0x202E, 0x205F...0x206F, 0x20DD...0x20E0, 0x2800...0x2800, 0x3164...0x3164,
        0xE000...0xF8FF, 0xFDD0...0xFDEF, 0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xFFA0...0xFFA0,
        0xFFF0...0xFFFC, 0xFFFE...0xFFFF, 0x13430...0x1343F, 0x16FE4...0x16FE4, 0x1BCA0...0x1BCA3,
        0x1D159...0x1D159, 0x1D173...0x1D17A, 0x1FFFE...0x1FFFF, 0xE0000...0xE0FFF, 0xF0000...0xF00FF,
        0x10FFFE...0x10FFFF,
    ]

    @Test(arguments: hostile)
    func `no scalar of these is ever shown`(range: ClosedRange<UInt32>) {
        for scalar in range.compactMap(Unicode.Scalar.init) {
            let display = DisplayText("a\(scalar)b")
            let escape = #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
            #expect(display.text == "a\(escape)b")
            #expect(display.hasEscapes)
        }
    }

    @Test(arguments: [
        (" a", #"\u{20}a"#), ("a ", #"a\u{20}"#), (" ", #"\u{20}"#), ("   ", #"\u{20}\u{20}\u{20}"#),
        ("a  b", #"a \u{20}b"#), ("a   ", #"a \u{20}\u{20}"#), ("a b c", "a b c"),
    ])
    func `spaces that make no word apart are escaped, without alarm`(raw: String, shown: String) {
        #expect(DisplayText(raw).text == shown)
        #expect(!DisplayText(raw).hasEscapes)
    }

    @Test(arguments: ["कि\u{94D}", "ه"])
    func `joiners pile no more marks onto a character`(base: String) {
        let raw = base + String(repeating: "\u{200D}\u{94D}", count: 20)
        let shown = DisplayText(raw)
        #expect(shown.hasEscapes)
        #expect(shown.text.unicodeScalars.count { $0 == "\u{94D}" || $0 == "\u{200D}" } <= 4)
    }

    @Test(arguments: [
        ("A\u{202E}B", #"A\u{202E}B"#), (#"C\D"#, #"C\\D"#), (#"\u{202E}"#, #"\\u{202E}"#), (" a", #"\u{20}a"#),
        ("é", "é"), ("Café Ω", "Café Ω"), ("Café Ω", #"Caf\u{E9} \u{3A9}"#), (#"É\\"#, #"\u{C9}\\\\"#),
        ("👩\u{200D}🍳", #"\u{1F469}\u{200D}\u{1F373}"#),
    ])
    func `a shown text stands for one text`(raw: String, shown: String) {
        #expect(DisplayText.raw(of: shown)?.utf8.elementsEqual(raw.utf8) == true)
    }

    @Test(arguments: [
        #"C\D"#, #"\"#, #"a\\\"#, #"\u{41}"#, #"\u{202e}"#, #"\u{0202E}"#, #"\u{+202E}"#, #"\u{}"#, #"\u{D800}"#,
        #"\u{202E"#,
        #"\u202E"#, "a\u{202E}b", #"é \u{3A9}"#, "a  b", " a", #"\x{41}"#, #"\u{1234567}"#,
    ])
    func `a text that no screen shows stands for none`(shown: String) {
        #expect(DisplayText.raw(of: shown) == nil)
    }

    @Test func `a backslash is doubled, so that nobody can write an escape`() {
        #expect(DisplayText(#"\u{202E}"#).text == #"\\u{202E}"#)
        #expect(DisplayText("\u{202E}").text == #"\u{202E}"#)
        #expect(DisplayText(#"\"#).text == #"\\"#)
        #expect(!DisplayText(#"\u{202E}"#).hasEscapes)
    }

    @Test(arguments: [
        ("a\u{301}\u{302}\u{303}\u{304}", 0), ("a\u{301}\u{302}\u{303}\u{304}\u{305}", 1),
        ("a" + String(repeating: "\u{336}", count: 39), 35), ("\u{301}a", 1), ("\u{301}\u{302}", 2), ("\n\u{301}", 2),
        (#"\"# + "\u{301}", 1), (" \u{301}", 1), ("a \u{301}", 0), ("\u{903}a", 1),
        ("a\u{301}\u{302}\u{303}\u{304}b\u{301}", 0),
    ])
    func `at most four marks stand on a character, and none on nothing`(raw: String, hostile: Int) {
        let display = DisplayText(raw)
        #expect(display.hasEscapes == (hostile > 0))
        let marks = raw.unicodeScalars.filter { $0.value > 0x7F }.count
        let shownMarks = display.text.unicodeScalars.filter { $0.value > 0x7F }.count
        let newLines = raw.unicodeScalars.filter { $0 == "\n" }.count
        #expect(marks + newLines - shownMarks == hostile)
    }

    @Test func `whatever comes can be read back, is one line, and ends in no space`() throws {
        var random = SystemRandomNumberGenerator()
        let palette: [Unicode.Scalar] = [
            "\\", "u", "{", "}", "2", "0", "E", " ", "\n", "\u{202E}", "\u{301}", "é", "\u{2028}", "a", "\u{E0041}",
            "\u{200C}", "\u{200D}", "\u{FE0F}", "\u{3000}", "\u{202F}", "ه", "क", "\u{94D}", "👩", "☕", "1", "\u{20E3}",
            "\u{A0}", "辻",
            "\u{E0100}", "ರ", "\u{CCD}",
        ]
        for _ in 0..<5_000 {
            var raw = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                raw.append(palette[Int.random(in: 0..<palette.count, using: &random)])
            }
            let text = DisplayText(String(raw)).text
            try #require(Array(Self.readBack(text)) == Array(raw), "\(text)")
            try #require(DisplayText.raw(of: text)?.utf8.elementsEqual(String(raw).utf8) == true, "\(text)")
            try #require(!text.hasPrefix(" ") && !text.hasSuffix(" ") && !text.contains(where: \.isNewline))
        }
    }

    @Test func `an excerpt is cut after 40 scalars`() {
        #expect(DisplayText.excerpt(String(repeating: "x", count: 40)) == String(repeating: "x", count: 40))
        #expect(DisplayText.excerpt(String(repeating: "x", count: 41)) == String(repeating: "x", count: 40) + "…")
        #expect(DisplayText.excerpt(String(repeating: "\n", count: 9_999)).hasSuffix(#"\u{A}…"#))
    }

    /// What stood before the escaping: the inverse, written apart from it.
    private static func readBack(_ text: String) -> String.UnicodeScalarView {
        var raw = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                raw.append(scalar)
                continue
            }
            guard rest.popFirst() == "u" else {
                raw.append("\\")
                continue
            }
            let digits = rest.dropFirst().prefix { $0 != "}" }
            rest = rest.dropFirst(digits.count + 2)
            raw.append(Unicode.Scalar(UInt32(String(digits), radix: 16) ?? 0xFFFD) ?? "\u{FFFD}")
        }
        return raw
    }
}
