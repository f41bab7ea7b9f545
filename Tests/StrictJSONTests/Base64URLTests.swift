import StrictJSON
import Testing

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
        "Z", "Zm9vY", "Zg==", "Zg=", "Zm 9", "Zg\n", "+/+/", "Zé", "Zh", "Zm9", "Zm9vYh", "Zm\u{0}v",
    ])
    func `any other text is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `every byte survives`() {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0...256 {
            #expect(Base64URL.decode(Base64URL.encode(Array(bytes.prefix(count)))) == Array(bytes.prefix(count)))
        }
    }
}
