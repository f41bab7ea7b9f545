import Testing
import ThreeDS

/// Text of an issuer that may mislead is warned of.
@Suite struct WarningTests {
    @Test(arguments: [
        "\u{410}mazon", "Am\u{430}zon", "A\u{3BC}azon", "P\u{430}yP\u{430}l", "\u{415}-bay\u{43E}", "caf\u{3AD}",
        "\u{53F}oop", "\u{13AA}mazon", "\u{1D400}mazon", "A\u{200B}\u{43C}", "a\u{301}\u{431}", "\u{FF21}\u{411}",
        "Москва Mос", "한ひ", "ㄅあ", "ㄅ한", "漢字А", "кафеα", "a1\u{431}", "\u{5D0}a", "ᴀ\u{430}", "Pay\u{17D2}Pal",
        "Pay\u{94D}Pal",
    ])
    func `a word with letters of two scripts has a warning of medium severity`(name: String) {
        let warnings = Warning.misleadingText(in: name, member: "merchantName")
        #expect(warnings.contains { $0.id == "mixedScripts" && $0.severity == .medium })
    }

    @Test(arguments: ["Pay\u{200D}Раl", "Pаy\u{200C}Pal", "فروشگاه\u{200C}shop"])
    func `a joiner makes no two words of one with letters of two scripts`(name: String) {
        #expect(Warning.misleadingText(in: name, member: "merchantName").contains { $0.id == "mixedScripts" })
    }

    @Test(arguments: [
        "فروشگاه\u{200C}ها", "ශ්\u{200D}රී ලංකා", "株式会社\u{3000}商店", "À table\u{202F}!", "Café ☕\u{FE0F}", "👩\u{200D}🍳",
    ])
    func `a name in the spelling of its country has no warning`(name: String) {
        #expect(Warning.misleadingText(in: name, member: "merchantName").isEmpty)
    }
}
