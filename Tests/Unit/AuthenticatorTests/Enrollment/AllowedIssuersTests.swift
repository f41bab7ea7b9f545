import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

/// The issuers that a new enrollment may name.
@Suite(.timeLimit(.minutes(20)))
struct AllowedIssuersTests {
    private func allowed(_ texts: String...) throws -> AllowedIssuers {
        AllowedIssuers(try texts.map { try IssuerURL(written: $0) })
    }

    @Test(arguments: [
        ("https://bank.example", true), ("https://BANK.example", true), ("HTTPS://bank.example", true),
        ("https://card.example:8443", true), ("https://card.example", false), ("https://card.example:8444", false),
        ("https://bank.example:8443", false), ("https://bank.example.evil.example", false),
        ("https://bank.examplee", false), ("https://bank.exampl", false), ("https://other-bank.example", false),
        ("https://www.bank.example", false), ("http://localhost:8080", false), ("http://127.0.0.1:22", false),
    ])
    func `scheme, host and port are compared, and no beginning of a text`(issuer: String, isAllowed: Bool) throws {
        let allowed = try allowed("https://Bank.example", "https://card.example:8443")
        let url = try IssuerURL(written: issuer)
        do throws(CommandError) {
            try allowed.expectAllowed(url)
            #expect(isAllowed)
        } catch {
            #expect(!isAllowed)
            #expect(error.code == .invalidArgument)
            #expect(error.message.contains(url.text))
            #expect(error.message.contains("allows https://bank.example, https://card.example:8443"))
        }
    }

    @Test func `a refusal names five of many`() throws {
        let allowed = AllowedIssuers(try (1...64).map { try IssuerURL("https://bank\($0).example") })
        let error = #expect(throws: CommandError.self) { try allowed.expectAllowed(IssuerURL("https://evil.example")) }
        #expect(error?.message.hasSuffix("https://bank5.example and 59 more") == true)
    }

    @Test func `an issuer that is not allowed is asked nothing, and what is enrolled there stays`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled("card")
        try await sample.issuer.enrolls()
        sample.agent.settings.allowedIssuers.use([try IssuerURL("https://other.example")])
        let enroll = { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) }
        let codes = await sample.issuer.codes
        #expect(try await failureCode(enroll) == .invalidArgument)
        #expect(throws: CommandError.self) { try sample.agent.expectAllowed(sample.parameters()) }
        #expect(await sample.issuer.codes == codes)
        #expect(try await sample.agent.enrollments().map(\.id) == [card.id])
        // Read again, as at a reload.
        sample.agent.settings.allowedIssuers.use(nil)
        #expect(try await failureCode(enroll) == nil)
    }
}
