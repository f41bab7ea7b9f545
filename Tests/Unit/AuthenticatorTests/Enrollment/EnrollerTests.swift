import IssuerProtocol
import ScratchDirectories
import Testing
import WebAuthn

@testable import Authenticator
@testable import Records

/// What has to hold before a key is made, and what is made then.
@Suite(.timeLimit(.minutes(20)))
struct EnrollerTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// The code that enrolling fails with; there must be no row then.
    private func refusal(_ parameters: EnrollmentParameters) async throws -> CommandError.Code? {
        let code = try await failureCode { _ = try await sample.agent.enroll(parameters, patience: 0) }
        #expect(try await sample.allEnrollments().isEmpty)
        #expect(await sample.issuer.registrations.isEmpty)
        return code
    }

    @Test(arguments: ["example", "other.example", "sub.issuer.example", "ssuer.example", "127.0.0.1", ""])
    func `an rp id that is not the issuer's is refused`(rpId: String) async throws {
        try await sample.issuer.enrolls(SampleCeremony(rpId: rpId))
        #expect(try await refusal(sample.parameters()) == .issuerRefused)
    }

    @Test func `an rp id that is a public suffix is refused, and the issuer's own host never is`() async throws {
        var settings = AgentSettings(version: "1.2.3")
        settings.publicSuffixes = { PublicSuffixList(Array("co.uk\nbank.co.uk\n*.ck\n".utf8)) }
        let sample = try SampleAgent(settings)
        for (host, rpId, isAllowed) in [
            ("login.bank.co.uk", "co.uk", false), ("login.bank.co.uk", "bank.co.uk", false),
            ("acs.login.bank.co.uk", "login.bank.co.uk", true), ("bank.co.uk", "bank.co.uk", true),
            ("bank.co.ck", "co.ck", false),
        ] {
            try await sample.issuer.enrolls(SampleCeremony(rpId: rpId))
            let parameters = try sample.parameters(at: "https://\(host)")
            guard !isAllowed else {
                #expect(try await sample.agent.enroll(parameters, patience: 0).rpId == rpId)
                continue
            }
            let failure = try await #require(throws: CommandError.self) {
                _ = try await sample.agent.enroll(parameters, patience: 0)
            }
            #expect(failure.code == .issuerRefused)
            #expect(failure.message.contains("rp.id \"\(rpId)\" is a public suffix"))
            #expect(failure.message.contains("its host \(host) is allowed"))
        }
    }

    @Test func `user verification that the authenticator cannot give is refused`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(userVerification: .required))
        #expect(try await refusal(sample.parameters()) == .issuerRefused)
    }

    @Test func `a chosen name that another enrollment has is refused before the issuer is asked`() async throws {
        let card = try await sample.enrolled("card", called: "kitchen")
        try await sample.issuer.enrolls()
        let wanted = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "kitchen",
            isNameChosen: true)
        let enroll = { _ = try await sample.agent.enroll(wanted, patience: 0) }
        #expect(try await failureCode(enroll) == .invalidArgument)
        #expect(try await sample.allEnrollments().count == 1)
        // One that has ended does not hold its name.
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try await failureCode(enroll) == nil)
        #expect(try await sample.agent.enrollment(named: "kitchen").id != card.id)
    }

    @Test func `enrollments are made up to the bound, and again once one has ended`() async throws {
        let sample = try SampleAgent(AgentSettings(bounds: AgentBounds { $0.enrollments = 2 }, version: "1"))
        let card = try await sample.enrolled("card")
        _ = try await sample.enrolled("other")
        try await sample.issuer.enrolls()
        let enroll = { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) }
        #expect(try await failureCode(enroll) == .failed)
        #expect(try await sample.allEnrollments().count == 2)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try await failureCode(enroll) == nil)
    }

    @Test(arguments: [" Café ", "\u{FEFF}Cafe\u{301}", "Caf\u{E9}\n"])
    func `a name is one text on every keyboard, when it is chosen and when it is meant`(typed: String) async throws {
        let card = try await sample.enrolled("card", called: "Caf\u{E9}")
        #expect(try await sample.agent.enrollment(named: typed).id == card.id)
        try await sample.issuer.enrolls()
        let wanted = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: typed,
            isNameChosen: true)
        #expect(wanted.name.utf8.elementsEqual("Caf\u{E9}".utf8))
        #expect(
            try await failureCode { _ = try await sample.agent.enroll(wanted, patience: 0) } == .invalidArgument)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `an issuer that calls itself by an address is told the name to use`(rpId: String) async throws {
        try await sample.issuer.enrolls(SampleCeremony(rpId: rpId))
        let parameters = try sample.parameters(.test, at: "http://127.0.0.1:8080")
        let failure = try await #require(throws: CommandError.self) {
            _ = try await sample.agent.enroll(parameters, patience: 0)
        }
        #expect(failure.code == .issuerRefused)
        #expect(failure.message.contains("let it call itself by a name, on this host localhost"))
        #expect(await sample.issuer.codes.isEmpty, "the code is still good")
    }

    @Test func `a name of spaces is refused`() async throws {
        try await sample.issuer.enrolls()
        let spaces = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: " \u{FEFF}",
            isNameChosen: true)
        #expect(
            try await failureCode { _ = try await sample.agent.enroll(spaces, patience: 0) } == .invalidArgument)
    }

    @Test func `a name that nobody chose gets a number if it is taken`() async throws {
        try await sample.issuer.enrolls()
        for _ in 1...3 { _ = try? await sample.agent.enroll(sample.parameters(), patience: 0) }
        let names = try await sample.agent.enrollments().map(\.name)
        #expect(names == ["my card", "my card-2", "my card-3"])
    }

    @Test func `an enrollment is found by its name, and equal names are ambiguous`() async throws {
        let kitchen = try await sample.enrolled("kitchen")
        #expect(try await sample.agent.enrollment(named: "kitchen").id == kitchen.id)
        #expect(try await failureCode { _ = try await sample.agent.enrollment(named: "kitch") } == .notFound)
        // No agent makes one; another program may.
        let other = try await sample.enrolled("other", called: "kitchen")
        #expect(try await failureCode { _ = try await sample.agent.enrollment(named: "kitchen") } == .ambiguous)
        #expect(try await sample.agent.enrollment(named: other.id.text).id == other.id)
    }

    @Test func `a name that another id begins with means the enrollment of that name`() async throws {
        let first = try await sample.enrolled("first")
        let named = try await sample.enrolled("second", called: String(first.id.text.prefix(4)))
        #expect(try await sample.agent.enrollment(named: String(first.id.text.prefix(4))).id == named.id)
        #expect(try await sample.agent.enrollment(named: String(first.id.text.prefix(5))).id == first.id)
    }

    @Test func `a numbered name is no longer than a name may be`() {
        let long = String(repeating: "ø", count: 128)
        let name = EnrollmentName.free(long) { $0 == long }
        #expect(name.utf8.count <= 256 && name.hasSuffix("-2"))
    }

    @Test func `a name with a number is free, and of a thousand that are taken few are looked at`() {
        let looks = Box(0)
        func free(_ taken: Set<Int>) -> String {
            looks.set(0)
            return EnrollmentName.free("card") { name in
                _ = looks.next()
                return name == "card" || taken.contains { name == "card-\($0)" }
            }
        }
        for last in 2...40 { #expect(free(Set(2...last)) == "card-\(last + 1)") }
        #expect(free([]) == "card-2")
        #expect(free([3, 4]) == "card-2")
        #expect(free(Set(2...1_000)) == "card-1001" && looks.value < 30)
    }

    @Test func `no common algorithm is refused`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(algorithms: [-257, -37]))
        #expect(try await refusal(sample.parameters()) == .issuerRefused)
    }

    @Test func `an issuer that knows the agent already is refused`() async throws {
        let card = try await sample.enrolled()
        try await sample.issuer.enrolls(SampleCeremony(exclude: [[1, 2, 3], card.enrollment.credentialId]))
        let code = try await failureCode { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) }
        #expect(code == .alreadyEnrolled)
        #expect(try await sample.allEnrollments().count == 1)
    }

    @Test func `another issuer's credential or an ended one in the list is no hindrance`() async throws {
        let elsewhere = IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil)
        let other = try await sample.enrolled("other", target: elsewhere)
        let ended = try await sample.enrolled("ended")
        _ = try await sample.agent.unenroll(ended.id, locally: true, forced: true)
        try await sample.issuer.enrolls(
            SampleCeremony(exclude: [other.enrollment.credentialId, ended.enrollment.credentialId]))
        #expect(try await failureCode { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) } == nil)
    }

    @Test func `a test authenticator is refused off loopback, unless it was allowed`() async throws {
        try await sample.issuer.enrolls()
        #expect(try await refusal(sample.parameters(.test)) == .invalidArgument)
        #expect(await sample.issuer.codes.isEmpty, "the code was not used up")
        let settings = AgentSettings(allowTestAuthenticators: true, version: "1")
        let allowing = try sample.restarted(settings: settings)
        #expect(
            try await failureCode { _ = try await allowing.agent.enroll(sample.parameters(.test), patience: 0) } == nil)
    }

    @Test func `a test authenticator is allowed at an issuer on loopback`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(rpId: "localhost", userVerification: .required))
        let parameters = try sample.parameters(.test, at: "http://localhost:8080")
        #expect(try await failureCode { _ = try await sample.agent.enroll(parameters, patience: 0) } == nil)
    }

    @Test(
        arguments: [
            (.problem(Problem(.invalidEnrollmentCode)), .invalidEnrollmentCode),
            (.problem(Problem(.invalidRequest)), .issuerRefused),
            (.transient(reason: "no connection", retryAfter: nil), .issuerUnreachable),
        ] as [(IssuerError, CommandError.Code)])
    func `a code that is not taken, or an issuer that cannot be used, is told`(
        failure: IssuerError, code: CommandError.Code
    ) async throws {
        await sample.issuer.onOptions { (_) throws(IssuerError) in throw failure }
        #expect(try await refusal(sample.parameters()) == code)
        #expect(await sample.issuer.codes == ["7QK4-M2XD"])
    }

    @Test func `if the key cannot be attested nothing is left behind`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(attestation: .direct))
        sample.custody.beforeSigning { throw SampleError("the token was pulled out") }
        #expect(
            try await failureCode { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) } == .failed)
        #expect(try await sample.allEnrollments().isEmpty)
    }

    @Test(arguments: [
        (AttestationConveyance.none, AttestationFormat.none), (.indirect, .packed), (.direct, .packed),
        (.enterprise, .packed),
    ])
    func `the registration holds, with the attestation that was asked for`(
        conveyance: AttestationConveyance, format: AttestationFormat
    ) async throws {
        try await sample.issuer.enrolls(SampleCeremony(attestation: conveyance))
        let enrollment = try await sample.agent.enroll(sample.parameters(), patience: 0)
        guard case .enrolling(let body) = enrollment.state else { throw SampleError("not enrolling") }
        let request = try EnrollmentRequest(bytes: body)
        #expect(request.ceremonyId == "ceremony-1" && request.name == "my card" && request.version == "1.2.3")
        let verified = try RegistrationVerifier.verify(
            request.credential, challenge: SampleCeremony.challenge, origin: "https://issuer.example",
            rpId: "issuer.example", userVerificationRequired: false, algorithms: [-7])
        #expect(verified.format == format && verified.aaguid == AAGUID.model && verified.signCount == 0)
        #expect(verified.credentialId == enrollment.credentialId && enrollment.userHandle == Array("user".utf8))
        #expect(!verified.flags.contains(.userVerified))
    }

    @Test func `a test authenticator says so by its AAGUID and claims verification`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(rpId: "localhost"))
        let parameters = try sample.parameters(.test, at: "http://localhost:8080")
        let enrollment = try await sample.agent.enroll(parameters, patience: 0)
        guard case .enrolling(let body) = enrollment.state else { throw SampleError("not enrolling") }
        let credential = try EnrollmentRequest(bytes: body).credential
        #expect(credential.credential.aaguid == AAGUID.test)
        #expect(try AuthenticatorData.parse(credential.authenticatorData).flags.contains(.userVerified))
    }
}
