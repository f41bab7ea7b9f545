import IssuerProtocol
import Testing

struct IdentifierTests {
    @Test(arguments: ["a", "AZaz09_-", String(repeating: "x", count: 64)])
    func `an id is 1 to 64 of letters, digits, underscore and hyphen`(text: String) {
        #expect(TokenID(text)?.text == text)
    }

    @Test(arguments: ["", String(repeating: "x", count: 65), "a b", "a.b", "a/b", "é", "a\n", "a\u{0}"])
    func `anything else is no id`(text: String) {
        #expect(TokenID(text) == nil)
    }

    @Test(arguments: ["a", "AZaz09-._~+/==", "a=", String(repeating: "x", count: 512)])
    func `a token is RFC 6750's b64token of 1 to 512`(text: String) {
        #expect(AccessToken(text)?.reveal() == text)
    }

    @Test(arguments: ["", "=", "==", "a=b", "a b", "a,b", "é", "a\r\nX: y", String(repeating: "x", count: 513)])
    func `anything else is no token`(text: String) {
        #expect(AccessToken(text) == nil)
    }

    @Test func `no way of printing shows a token`() throws {
        let token = try #require(AccessToken("secret-4711"))
        let id = try #require(TokenID("a"))
        var dumped = ""
        dump(token, to: &dumped)
        dump(EnrollmentAnswer(authenticatorId: id, accessToken: token), to: &dumped)
        let texts = ["\(token)", String(describing: token), String(reflecting: token), "\([token])", dumped]
        for text in texts {
            #expect(!text.contains("4711"))
            #expect(text.contains("<redacted>"))
        }
    }

    @Test func `the two models differ and have 16 bytes`() {
        #expect(AAGUID.model.count == 16 && AAGUID.test.count == 16 && AAGUID.model != AAGUID.test)
    }
}
