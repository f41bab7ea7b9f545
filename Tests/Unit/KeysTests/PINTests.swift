import Testing

@testable import Keys

@Suite struct PINTests {
    private func pin(_ text: String) throws(PINError) -> PIN { try PIN(Secret(text)) }

    @Test(arguments: [
        "2580", "a b!", "Dæmø", "\u{1F511}\u{1F511}\u{1F511}\u{1F511}", String(repeating: "é", count: 64),
    ])
    func `4 to 64 characters are a PIN, byte for byte`(text: String) throws {
        #expect(try pin(text).secret == Secret(text))
    }

    @Test(arguments: [
        ("", PINError.empty), ("123", .tooShort), ("æøå", .tooShort), (String(repeating: "7", count: 65), .tooLong),
        (String(repeating: "\u{1F511}", count: 65), .tooLong), (String(repeating: "7", count: 100_000), .tooLong),
        ("2468\n", .controlCharacter), ("24\n68", .controlCharacter), ("24\r68", .controlCharacter),
        ("24\u{0}68", .controlCharacter), ("24\u{85}68", .controlCharacter), ("\u{FEFF}2468", .controlCharacter),
    ])
    func `anything else is none`(text: String, error: PINError) {
        #expect(throws: error) { try pin(text) }
    }

    @Test(arguments: [[0xFF, 0x31, 0x31, 0x31], [0x31, 0x31, 0x31, 0xC3], [0x31, 0x31, 0x31, 0xED, 0xA0, 0x80]])
    func `bytes that are no UTF-8 are none`(bytes: [UInt8]) {
        #expect(throws: PINError.notText) { try PIN(Secret(bytes)) }
    }

    @Test func `no error repeats it, and each says what is allowed`() {
        for error in PINError.allCases { #expect(error.description.contains("a PIN has 4 to 64 characters")) }
    }

    @Test func `no text shows it`() throws {
        for text in everyText(of: try pin("736251")) + everyText(of: [try pin("736251")]) {
            #expect(!text.contains("736251") && !text.contains("55, 51"), "\(text)")
        }
    }

    @Test(arguments: [
        "0000", "aaaaaaaa", "1234", "4321", "012345", "7890", "0987", "3210987", "abcd", "dcba", "1212", "123123",
        "20242024", "abcabcabc", "1900", "1987", "2031", "2099",
    ])
    func `what anyone would try first is guessable`(text: String) throws {
        #expect(try pin(text).isGuessable)
    }

    @Test(arguments: ["2468", "7362", "1235", "1900a", "1899", "2100", "12123", "1233210", "19 8", "passphrase"])
    func `other PINs are not`(text: String) throws {
        #expect(try !pin(text).isGuessable)
    }
}
