import Testing
import TextAndTime

struct Base64URLTests {
    // RFC 4648 §10, without padding, and the two characters in which §5 differs from §4
    @Test(
        arguments: [
            ([], ""), ([0x66], "Zg"), ([0x66, 0x6F], "Zm8"), ([0x66, 0x6F, 0x6F], "Zm9v"),
            ([0x66, 0x6F, 0x6F, 0x62], "Zm9vYg"), ([0xFB, 0xFF, 0xBF], "-_-_"), ([0x00, 0x10, 0x83], "ABCD"),
        ] as [([UInt8], String)])
    func `bytes and text stand for each other`(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test(arguments: [
        "Z", "Zm9vY", "Zg==", "Zg=", "Zm 9", "Zg\n", "+/+/", "Zé", "Zh", "Zm9", "Zm9vYh", "Zm\u{0}v", "Zm9v=",
        "Zm9vY===", "Zm9vZm9", "\u{212A}Zm9",
    ])
    func `any other text is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
        #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
    }

    @Test func `a foreign byte is refused wherever it is`() {
        let characters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(Base64URL.isCharacter(byte) == characters.contains(byte))
            for count in [2, 3, 4, 6, 7, 8] {
                for place in 0..<count {
                    var text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                    text[place] = byte
                    if !characters.contains(byte) { #expect(Base64URL.decode(text[...]) == nil) }
                }
            }
        }
    }

    @Test func `bits that no byte has are refused unless they are 0`() {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for (value, last) in characters.enumerated() {
            #expect((Base64URL.decode("Zm9vZ" + String(decoding: [last], as: UTF8.self)) != nil) == (value % 16 == 0))
            #expect((Base64URL.decode("Zm9vZg" + String(decoding: [last], as: UTF8.self)) != nil) == (value % 4 == 0))
        }
    }

    @Test func `a part of more bytes is decoded as it is alone`() {
        #expect(Base64URL.decode(Array("..Zm9v.".utf8)[2..<6]) == Array("foo".utf8))
        #expect(Base64URL.decode(Array("..".utf8)[1..<1]) == [])
    }

    @Test func `every byte survives`() {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0...256 {
            #expect(Base64URL.decode(Base64URL.encode(Array(bytes.prefix(count)))) == Array(bytes.prefix(count)))
        }
    }
}
