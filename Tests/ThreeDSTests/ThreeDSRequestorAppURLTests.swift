import Testing
import ThreeDS

struct ThreeDSRequestorAppURLTests {
    @Test(arguments: [
        "https://merchant.example/return?transID=1", "com.your-company.app://x", "app:return",
        "merchantScheme://appName",
        "a:b", "a+b-c.9:x", "https://merchant.example/@shop", "https://merchant.example?to=a@b",
        "https://merchant.example#a@b", "mailto:someone@merchant.example", "app:/path@x", "HTTPS://merchant.example",
        "my_app://return", "My_App:x", "myapp:", "myapp://", "javascripts:x",
        "https://[2001:db8::1]:8443/%20~!$&'()*+,;=",
    ])
    func `a plain URL is kept byte for byte`(text: String) throws {
        #expect(try ThreeDSRequestorAppURL(text).text == text)
        #expect(try Fixture.transaction(["threeDSRequestorAppURL": text]).threeDSRequestorAppURL?.text == text)
    }

    @Test func `a URL of 256 bytes is allowed, not 257, and not an empty one`() throws {
        let longest = "app:" + String(repeating: "x", count: 252)
        #expect(try ThreeDSRequestorAppURL(longest).text == longest)
        #expect(throws: URLRefusal.length) { try ThreeDSRequestorAppURL(longest + "x") }
        #expect(throws: URLRefusal.length) { try ThreeDSRequestorAppURL("") }
    }

    @Test func `of all bytes, only printable ASCII except eleven is allowed`() {
        let forbidden = Set(#" "<>\^`{|}"#.unicodeScalars)
        for scalar in (0...0xFF).compactMap({ Unicode.Scalar($0) as Unicode.Scalar? }) {
            let isAllowed = (0x21...0x7E).contains(scalar.value) && !forbidden.contains(scalar)
            let url = try? ThreeDSRequestorAppURL("app:x\(scalar)y")
            #expect((url != nil) == isAllowed, "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test(
        arguments: [
            ("https://merchant.example/köln", URLRefusal.notASCII, "%C3%B6"),
            ("https://kö.example/", .notASCII, "xn--"),
            ("https://merchant.example/{orderId}", .byte, "{id}"),
            ("https://merchant.example/a b", .byte, "hexadecimal"),
            ("https://merchant.example/%C3%B6?order=%7B1%7D", nil, ""),
        ] as [(String, URLRefusal?, String)])
    func `what apps for iOS or Android do not open alike is refused, and the refusal says what to write`(
        text: String, refusal: URLRefusal?, advice: String
    ) {
        var thrown: URLRefusal?
        do { _ = try ThreeDSRequestorAppURL(text) } catch { thrown = error }
        #expect(thrown == refusal)
        guard refusal != nil else { return }
        let message = Fixture.refusal(["threeDSRequestorAppURL": text])?.message
        #expect(message?.contains(advice) == true)
    }

    @Test(arguments: [
        "https", "https:", "://x", ":x", "1a:x", "/path:x", "a/b:c", "%6Aavascript:x", "_a:x", "-a:x", "HTTP:", "ws:",
    ])
    func `a URL without a scheme, or of the web with nothing after it, is refused`(text: String) {
        #expect(throws: URLRefusal.scheme) { try ThreeDSRequestorAppURL(text) }
    }

    @Test(arguments: [
        "javascript:alert(1)", "JavaScript:alert(1)", "JAVASCRIPT://x", "data:text/html,x", "Data:,",
        "file:///etc/passwd",
        "FILE:x", "vbscript:x", "VBScript:x", "blob:https://x/1", "bLOB:x", "about:blank", "ABOUT:x",
    ])
    func `a scheme that runs or reads something here is refused`(text: String) {
        #expect(throws: URLRefusal.forbiddenScheme) { try ThreeDSRequestorAppURL(text) }
        #expect(Fixture.refusal(["threeDSRequestorAppURL": text])?.code == .threeDSRequestorAppURL)
    }

    @Test(arguments: [
        "https://user@merchant.example", "https://user:pass@merchant.example/x", "https://@merchant.example",
        "https://bank.example@merchant.example", "https://bank.example%2F@merchant.example/", "app://user@x",
        // A browser finds a host here, where RFC 3986 has a path.
        "https:user@merchant.example", "https:/user@merchant.example", "https:///user@merchant.example",
        "HTTPS:user@merchant.example", "http:user@merchant.example", "ws:user@merchant.example",
        "wss:user@merchant.example", "ftp:user@merchant.example",
    ])
    func `a URL with a user or password is refused`(text: String) {
        #expect(throws: URLRefusal.user) { try ThreeDSRequestorAppURL(text) }
    }

    @Test func `the refusal says what is wrong, not what the URL was`() {
        let refusal = Fixture.refusal(["threeDSRequestorAppURL": "https://user:secret@x"])
        #expect(refusal?.member == "threeDSRequestorAppURL")
        #expect(
            refusal?.message
                == "threeDSRequestorAppURL has a user or password before its host; none is allowed")
    }
}
