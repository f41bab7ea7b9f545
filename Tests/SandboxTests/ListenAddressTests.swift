import IssuerProtocol
import Sandbox
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("localhost:8080", "localhost", 8080, true), ("127.0.0.1:0", "127.0.0.1", 0, true),
        ("[::1]:443", "::1", 443, true), ("127.9.9.9:1", "127.9.9.9", 1, true),
        ("0.0.0.0:8080", "0.0.0.0", 8080, false), ("Issuer.example:65535", "issuer.example", 65_535, false),
        ("127.0.0.1.example.com:1", "127.0.0.1.example.com", 1, false),
    ])
    func `a host and a port`(text: String, host: String, port: Int, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "localhost", ":8080", "localhost:", "localhost:65536", "localhost:-1", "localhost:+1", "local host:1",
        "[::1:8080", "[]:1", "localhost:８０", "http://localhost:8080",
    ])
    func `anything else is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        ("http://localhost:8080", "localhost"), ("http://127.0.0.1:8080", "localhost"),
        ("https://issuer.example", "issuer.example"),
    ])
    func `the relying party is never named by an address`(issuer: String, rpId: String) throws {
        #expect(IssuerSite(issuer: try IssuerURL(issuer)).rpId == rpId)
    }
}
