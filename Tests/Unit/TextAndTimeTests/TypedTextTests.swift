import Testing
import TextAndTime

struct TypedTextTests {
    @Test(arguments: [
        "AB-CD", " AB-CD ", "\u{FEFF}AB-CD", "\u{FEFF} AB-CD", "\tAB-CD\r\n", "\u{A0}AB-CD\u{3000}", "AB-CD\n\n",
    ])
    func `a code is one text however it was copied`(typed: String) {
        #expect(TypedText.trimmed(typed) == "AB-CD")
    }

    @Test(arguments: [
        ("", ""), (" ", ""), ("\u{FEFF}", ""), ("a b", "a b"), ("a\u{FEFF}", "a\u{FEFF}"), ("e\u{301}", "e\u{301}"),
    ])
    func `nothing else is changed`(typed: String, text: String) {
        #expect(TypedText.trimmed(typed).utf8.elementsEqual(text.utf8))
    }

    @Test(arguments: [
        ("Café", "Café"), ("Cafe\u{301}", "Caf\u{E9}"), ("\u{FEFF}Cafe\u{301} ", "Caf\u{E9}"), ("한", "\u{D55C}"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("Ａ", "Ａ"), ("plain", "plain"), ("\u{212B}", "\u{C5}"),
    ])
    func `a name is one text in whatever form a keyboard writes it`(typed: String, name: String) {
        #expect(TypedText.name(typed).utf8.elementsEqual(name.utf8))
        #expect(TypedText.name(name).utf8.elementsEqual(name.utf8))
    }
}
