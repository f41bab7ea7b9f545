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
            ("https://m.example/köln", URLRefusal.notASCII("ö"), "has ö, which is not ASCII: write it as %C3%B6"),
            ("https://kü.example/", .notASCII("ü"), "xn--"),
            ("\u{FEFF}https://merchant.example/", .notASCII("\u{FEFF}"), #"has \u{FEFF}, which is not ASCII"#),
            ("https://m.example/{orderId}", .byte(UInt8(ascii: "{")), "fill in what is a template, such as {id}"),
            ("https://merchant.example/a b", .byte(UInt8(ascii: " ")), "has a space: write it as %20"),
            ("https://merchant.example/\t", .byte(9), "has a control character: write it as %09"),
            ("https://merchant.example/^", .byte(UInt8(ascii: "^")), "has ^: write it as %5E"),
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

    @Test(arguments: ["https", "://x", ":x", "return/now"])
    func `a URL without a scheme is refused`(text: String) {
        #expect(throws: URLRefusal.scheme) { try ThreeDSRequestorAppURL(text) }
    }

    @Test(arguments: ["1a:x", "/path:x", "a/b:c", "%6Aavascript:x", "_a:x", "-a:x"])
    func `a scheme of another form is refused`(text: String) {
        #expect(throws: URLRefusal.schemeForm) { try ThreeDSRequestorAppURL(text) }
    }

    @Test(arguments: [
        "https:", "HTTP:", "ws:", "https://", "https:/", "https:#", "http:?x", "https:/x", "https:x", "https:///x",
        "https://:443/x", "https://?x", "https://#x", "ftp:/x",
    ])
    func `a URL of the web without a host is refused: a browser would look for it on its own page`(text: String) {
        #expect(throws: URLRefusal.host) { try ThreeDSRequestorAppURL(text) }
        #expect(Fixture.refusal(["threeDSRequestorAppURL": text])?.message.contains("names no host") == true)
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
