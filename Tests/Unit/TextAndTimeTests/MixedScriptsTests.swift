import Testing
import TextAndTime

/// A word with letters of scripts that are not written together is found (UTS #39).
struct MixedScriptsTests {
    @Test(arguments: [
        "\u{410}mazon", "Am\u{430}zon", "A\u{3BC}azon", "P\u{430}yP\u{430}l", "\u{415}-bay\u{43E}", "caf\u{3AD}",
        "\u{53F}oop", "\u{13AA}mazon", "\u{1D400}mazon", "A\u{200B}\u{43C}", "a\u{301}\u{431}", "\u{FF21}\u{411}",
        "Москва Mос", "한ひ", "ㄅあ", "ㄅ한", "漢字А", "кафеα", "a1\u{431}", "\u{5D0}a", "ᴀ\u{430}", "Pay\u{17D2}Pal",
        "Pay\u{94D}Pal",
    ])
    func `a word of scripts that do not go together is found`(_ text: String) {
        #expect(MixedScripts.areIn(text))
    }

    @Test(arguments: [
        "", "Amazon", "CoffeeHouse2 (Dæmø)", "Кафе Amazon", "Кафе/Amazon", "ООО \"Ромашка\"", "Αθήνα Athens",
        "Ξενοδοχείο-hotel",
        "東京タワー", "トヨタ自動車 TOYOTA", "Tシャツ", "ｶﾌｪ", "スーパー", "人々", "서울 Seoul", "韓國한국K", "ㄅ注音A", "مقهى", "10 µm",
        "5 k\u{2126}",
        "nº 1", "Łódź", "Ünlü", "İstanbul", "ℹ︎", "1234", "a\u{301}b", "บ้าน", "café", "ʻOkina", "🍕 Pizza", "किराना क्ष", "ශ්රී",
    ])
    func `names as they are written are not`(_ text: String) {
        #expect(!MixedScripts.areIn(text))
    }
}
