import IssuerProtocol
import Testing

struct IssuerURLTests {
    @Test(arguments: [
        ("https://issuer.example", "issuer.example", 443), ("https://a-1.b.example:8443", "a-1.b.example", 8443),
        ("https://localhost", "localhost", 443), ("http://localhost:8080", "localhost", 8080),
        ("http://127.0.0.1", "127.0.0.1", 80), ("http://127.255.0.3:1", "127.255.0.3", 1),
        ("http://[::1]:65535", "[::1]", 65535), ("https://192.0.2.1", "192.0.2.1", 443),
        ("https://xn--bcher-kva.example:80", "xn--bcher-kva.example", 80),
    ])
    func `an issuer's URL is scheme, host and port`(text: String, host: String, port: Int) throws {
        let url = try IssuerURL(text)
        #expect(url.text == text && url.host == host && url.port == port)
    }

    @Test(arguments: [
        "", "issuer.example", "ftp://issuer.example", "HTTPS://issuer.example", "https:issuer.example", "https://",
        "https://issuer.example/", "https://issuer.example/path", "https://issuer.example?x",
        "https://issuer.example#x",
        "https://Issuer.example", "https://user@issuer.example", "https://issuer.example:",
        "https://issuer.example:443",
        "https://issuer.example:0", "https://issuer.example:65536", "https://issuer.example:08",
        "https://issuer.example:+8",
        "https://issuer.example:8:8", "https://issuer..example", "https://issuer.example.", "https://.example",
        "https://-a.example", "https://a-.example", "https://a_b.example", "https://bücher.example",
        "https://issuer.example\n", " https://issuer.example", "https://1.2.3", "https://1.2.3.4.5",
        "https://256.0.0.1",
        "https://01.2.3.4", "https://issuer.1", "https://issuer.0x7f", "https://[::2]", "https://[::1",
        "https://[::1]x",
        "http://issuer.example", "http://127.0.0.1.example", "http://localhost.example", "http://128.0.0.1",
        "http://localhost:80", "https://\(String(repeating: "a", count: 64)).example",
        "https://\(String(repeating: "a.", count: 127))example",
    ])
    func `anything else is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try IssuerURL(text) }
    }

    @Test(arguments: [
        ("HTTPS://Issuer.EXAMPLE", "https://issuer.example"), ("HTTP://LOCALHOST:8080", "http://localhost:8080"),
        ("https://issuer.example:8443", "https://issuer.example:8443"), ("Http://[::1]:1", "http://[::1]:1"),
    ])
    func `as a person writes it scheme and host may be in any case, and it is the same issuer`(
        written: String, text: String
    ) throws {
        #expect(try IssuerURL(written: written) == IssuerURL(text))
        #expect(try IssuerURL(written: written).text == text)
    }

    @Test(arguments: [
        "HTTP://ISSUER.EXAMPLE", "HTTPS://ISSUER.EXAMPLE/", "FTP://LOCALHOST", "HTTPS://B\u{C4}NK.example",
        "https://issuer\u{212A}.example", "https://\u{130}ssuer.example",
    ])
    func `letters that are not of ASCII have no other case in a host name`(written: String) {
        #expect(throws: ProtocolError.self) { try IssuerURL(written: written) }
    }

    @Test(arguments: ["https://bank.example:8443/", "https://bank.example/", "https://bank.example:8443/path"])
    func `a slash at the end is said to be what is wrong, also after a port`(text: String) throws {
        let error = #expect(throws: ProtocolError.self) { try IssuerURL(text) }
        #expect(error?.what.contains("without a slash at the end") == true)
    }

    @Test(arguments: [
        ("https://localhost", true), ("http://127.9.9.9", true), ("http://[::1]", true), ("https://128.0.0.1", false),
        ("https://localhost.example", false), ("https://issuer.example", false),
    ])
    func `loopback is known by its names`(text: String, isLoopback: Bool) throws {
        #expect(try IssuerURL(text).isLoopback == isLoopback)
    }

    @Test(arguments: [
        ("https://login.bank.example", "login.bank.example", true),
        ("https://login.bank.example", "bank.example", true),
        ("https://login.bank.example", "example", false), ("https://login.bank.example", "nk.example", false),
        ("https://login.bank.example", "other.example", false),
        ("https://login.bank.example", "a.login.bank.example", false),
        ("https://login.bank.example", "", false), ("https://login.bank.example", ".bank.example", false),
        ("https://login.bank.example", "Bank.example", false),
        ("https://login.bank.example:8443", "bank.example", true),
        ("http://localhost:8080", "localhost", true), ("http://localhost", "host", false),
        ("http://127.0.0.1", "127.0.0.1", false), ("http://127.0.0.1", "0.1", false), ("http://[::1]", "[::1]", false),
    ])
    func `a relying party is the issuer's host or a parent domain`(text: String, rpId: String, isPermitted: Bool) throws
    {
        #expect(try IssuerURL(text).permits(rpId: rpId) == isPermitted)
    }
}
