import StrictJSON
import Testing

@testable import WebAuthn

@Suite struct ClientDataTests {
    @Test func `a registration's client data is written in the standard's order`() {
        let bytes = ClientData.create(challenge: [0xFB, 0xFF, 0x00], origin: "https://a.example")
        #expect(
            bytes.text
                == #"{"type":"webauthn.create","challenge":"-_8A","origin":"https://a.example","crossOrigin":false}"#)
    }

    @Test func `an authentication's client data is that of the W3C's example`() {
        let vector = W3CVector.none
        #expect(ClientData.get(challenge: vector.challenge, origin: W3CVector.origin) == vector.clientDataJSON)
    }

    @Test(arguments: [
        ("", #""""#), ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("a/b", #""a/b""#), ("\u{0}", #""\u0000""#),
        ("\t\n\r", #""\u0009\u000a\u000d""#), ("\u{8}\u{C}", #""\u0008\u000c""#), ("\u{1F}\u{20}", #""\u001f ""#),
        ("\u{7F}\u{80}\u{2028}\u{10FFFF}", "\"\u{7F}\u{80}\u{2028}\u{10FFFF}\""), ("e\u{301}", "\"e\u{301}\""),
        ("Dæmø <&>", "\"Dæmø <&>\""),
    ])
    func `only quotes, backslashes and controls are escaped`(text: String, written: String) {
        #expect(ClientData.ccdToString(text) == Array(written.utf8))
    }

    @Test func `every control is escaped with four lower-case digits`() throws {
        let text = String(String.UnicodeScalarView((0x00...0x1F).compactMap { Unicode.Scalar(UInt32($0)) }))
        let written = ClientData.ccdToString(text)
        #expect(written.count == 2 + 32 * 6)
        #expect(try JSONReader.value(written, limits: JSONLimits(maxBytes: 1_000)) == .string(text))
    }

    @Test func `what is written is read`() throws {
        let bytes = ClientData.get(challenge: [1, 2, 3], origin: "https://a\"\\\u{1}.example")
        let data = try CollectedClientData.parse(bytes)
        #expect(data.type == "webauthn.get")
        #expect(data.challenge == [1, 2, 3])
        #expect(data.origin == "https://a\"\\\u{1}.example")
        #expect(!data.crossOrigin)
        #expect(data.topOrigin == nil)
    }

    @Test func `members in another order, unknown ones and white space are read`() throws {
        let text = #" { "origin" : "o", "extra" : [ {} ], "challenge":"AQ", "type" : "t" } "#
        let data = try CollectedClientData.parse(Array(text.utf8))
        #expect(data.type == "t")
        #expect(data.challenge == [1])
        #expect(data.origin == "o")
        #expect(!data.crossOrigin)
    }

    @Test func `crossOrigin and topOrigin are read`() throws {
        let data = try CollectedClientData.parse(W3CVector.topOrigin.registrationClientDataJSON)
        #expect(data.crossOrigin)
        #expect(data.topOrigin == "https://example.com")
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"challenge":"AQ","origin":"o"}"#, #"{"type":"t","origin":"o"}"#,
        #"{"type":"t","challenge":"AQ"}"#, #"{"type":1,"challenge":"AQ","origin":"o"}"#,
        #"{"type":"t","challenge":"AQ==","origin":"o"}"#, #"{"type":"t","challenge":"","origin":"o"}"#,
        #"{"type":"t","challenge":"AR","origin":"o"}"#, #"{"type":"t","challenge":"AQ","origin":""}"#,
        #"{"type":"t","challenge":"AQ","origin":"o","crossOrigin":"false"}"#,
        #"{"type":"t","challenge":"AQ","origin":"o","topOrigin":1}"#,
        #"{"type":"t","type":"t","challenge":"AQ","origin":"o"}"#,
        #"{"type":"t","challenge":"AQ","origin":"o","x":{"y":1,"y":1}}"#,
        #"{"type":"t","challenge":"AQ","origin":"o"}x"#, "\u{FEFF}" + #"{"type":"t","challenge":"AQ","origin":"o"}"#,
    ])
    func `client data that is not of its form is refused`(text: String) {
        #expect(throws: ClientDataError.self) { try CollectedClientData.parse(Array(text.utf8)) }
    }

    @Test func `client data of more than 16 KiB is refused`() throws {
        func clientData(padding: Int) -> [UInt8] {
            Array(#"{"type":"t","challenge":"AQ","origin":"o"\#(String(repeating: " ", count: padding))}"#.utf8)
        }
        let fixed = clientData(padding: 0).count
        #expect(try CollectedClientData.parse(clientData(padding: 16_384 - fixed)).type == "t")
        #expect(throws: ClientDataError.self) { try CollectedClientData.parse(clientData(padding: 16_385 - fixed)) }
    }
}
