import HTTPServing
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("localhost:8080", "localhost", 8080, true), ("127.0.0.1:0", "127.0.0.1", 0, true),
        ("[::1]:443", "::1", 443, true), ("127.9.9.9:1", "127.9.9.9", 1, true),
        ("0.0.0.0:8080", "0.0.0.0", 8080, false), ("Issuer.example:65535", "issuer.example", 65_535, false),
        ("127.0.0.1.example.com:1", "127.0.0.1.example.com", 1, false),
    ])
    func `a host and a port`(text: String, host: String, port: Int, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text, hosts: .addressesAndNames))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "localhost", ":8080", "localhost:", "localhost:65536", "localhost:-1", "localhost:+1", "local host:1",
        "[::1:8080", "[]:1", "localhost:８０", "http://localhost:8080",
    ])
    func `anything else is refused`(text: String) {
        #expect(ListenAddress(text, hosts: .addressesAndNames) == nil)
    }

    @Test(arguments: [
        ("localhost:8443", true), ("192.0.2.1:8443", true), ("[2001:db8::1]:8443", true), ("2001:db8::1:8443", false),
        ("[192.0.2.1]:8443", false), ("[localhost]:8443", false), ("agent.example:8443", false),
    ])
    func `names are taken only if they are allowed`(text: String, isAddress: Bool) {
        #expect((ListenAddress(text, hosts: .addresses) != nil) == isAddress)
    }
}
