import IssuerProtocol
import Sandbox
import Testing

@Suite struct IssuerSiteTests {
    @Test(arguments: [
        ("http://localhost:8080", "localhost"), ("http://127.0.0.1:8080", "localhost"),
        ("https://issuer.example", "issuer.example"),
    ])
    func `the relying party is never named by an address`(issuer: String, rpId: String) throws {
        #expect(IssuerSite(issuer: try IssuerURL(issuer)).rpId == rpId)
    }
}
