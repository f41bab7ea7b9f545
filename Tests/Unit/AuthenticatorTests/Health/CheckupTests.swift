import Foundation
import IssuerProtocol
import Keys
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

/// What the doctor says, and in which order.
@Suite(.timeLimit(.minutes(20)))
struct CheckupTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// What is found of enrollments; the clock of tests is always behind.
    private func found() async -> [Finding] {
        await sample.agent.checkup.findings().filter { $0.weakness != .clockBehind }
    }

    private func externalKey(_ kind: ExternalKeyFacts.Kind, isExportable: Bool?) throws -> Enrollment {
        let facts = ExternalKeyFacts(
            kind: kind, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: isExportable)
        return Enrollment(
            id: try EnrollmentID(random: sample.ports.entropy), target: try SampleAgent.target, name: "card",
            authnType: .presence, algorithm: -7, rpId: "issuer.example", credentialId: [1], userHandle: [2],
            startedAt: 0, key: .external(ExternalKey(uri: try KeyURI("pkcs11:token=bank;object=card"), facts: facts)),
            signCount: 0, state: .enrolling(body: []))
    }

    @Test func `weaknesses are declared in the order of their severity`() {
        let ranks = Weakness.allCases.map { [.high: 2, .medium: 1, .low: 0][$0.severity] }
        #expect(ranks.compactMap(\.self) == ranks.compactMap(\.self).sorted(by: >))
        #expect(Set(Weakness.allCases.map(\.severity)).count == 3)
    }

    @Test func `each weakness has a section in the documentation, with its severity, and no other has`() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../../docs/reference/doctor.md").standardized
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let headings = lines.filter { $0.hasPrefix("### ") }.map { $0.dropFirst(4) }
        #expect(headings.map(String.init) == Weakness.allCases.map { "`\($0.rawValue)`: \($0.severity.rawValue)" })
    }

    @Test func `an enrollment's own key can be copied, and its test authenticator comes before that`() async throws {
        let card = try await sample.enrolled(authnType: .test)
        #expect(await found().map(\.weakness) == [.testAuthenticator, .keyExportable])
        #expect(await found().allSatisfy { $0.enrollment == card.id && $0.message.contains(card.id.text) })
        #expect(try await sample.enrollment(card.id).warnings.map(\.id) == ["testAuthenticator"])
    }

    @Test func `an issuer without TLS is one`() async throws {
        let target = IssuerTarget(issuer: try IssuerURL("http://localhost:8080"), rootsPEM: nil)
        _ = try await sample.enrolled(target: target)
        #expect(await found().map(\.weakness) == [.keyExportable, .plainHTTP])
    }

    @Test func `a token's key that may be copied is one, and if that cannot be told it is said`() throws {
        #expect(try externalKey(.pkcs11, isExportable: true).findings.map(\.weakness) == [.tokenKeyExportable])
        #expect(try externalKey(.pkcs11, isExportable: true).findings.map(\.severity) == [.medium])
        #expect(try externalKey(.tpm, isExportable: false).findings == [])
        let unknown = try externalKey(.pkcs11, isExportable: nil).findings
        #expect(unknown.map(\.isCertain) == [false] && unknown.map(\.severity) == [.low])
        #expect(try externalKey(.file, isExportable: true).findings.map(\.weakness) == [.keyExportable])
    }

    @Test func `a PIN that is one of the first to be tried is one, and whoever enrolls is told`() async throws {
        var enrollment = try await sample.enrolled(authnType: .pin).enrollment
        #expect(enrollment.findings.map(\.weakness) == [.keyExportable] && enrollment.warnings.isEmpty)
        enrollment.isPINGuessable = true
        #expect(enrollment.findings.map(\.weakness) == [.pinGuessable, .keyExportable])
        #expect(enrollment.warnings.map(\.id) == ["pinGuessable"])
    }

    @Test func `of one kind ten are listed, and a last one says how many more there are`() async throws {
        let findings = (0..<5_000).map { Finding(.plainHTTP, "number \($0)") } + [Finding(.socketOpen, "open")]
        let listed = Finding.listed(findings)
        #expect(listed.map(\.weakness) == [.socketOpen] + Array(repeating: .plainHTTP, count: 11))
        #expect(listed.last?.others == 4_990 && listed.last?.message == "the same of 4990 more enrollments")
        #expect(Finding.listed(Array(findings.prefix(10))).allSatisfy { $0.others == nil })
    }

    @Test func `what cannot be told comes last, is low, and is counted apart`() {
        let unsure = Finding(.debuggerAttached, "cannot tell", isCertain: false)
        #expect(unsure.severity == .low)
        let findings = Array(repeating: unsure, count: 9) + [Finding(.plainHTTP, "a"), Finding(.debuggerAttached, "b")]
        let listed = Finding.listed(findings)
        #expect(listed.map(\.isCertain) == [true, true] + Array(repeating: false, count: 9))
        #expect(listed.first?.weakness == .debuggerAttached)
    }

    @Test func `what the surroundings say is among them`() async throws {
        let inspector = Told(findings: [Finding(.debuggerAttached, "process 7 traces the agent")])
        let ports = sample.ports.with(inspector: inspector)
        let findings = await Checkup(ports: ports, keys: KeyHealth(), issuers: IssuerHealth()).findings()
        #expect(findings.map(\.weakness) == [.clockBehind, .debuggerAttached])
    }

    @Test func `a build with personas is one, also if the database cannot be read`() async throws {
        let checkup = Checkup(
            ports: sample.agent.ports, keys: KeyHealth(), issuers: IssuerHealth(), hasPersonas: true)
        #expect(await checkup.findings().map(\.weakness) == [.clockBehind, .personas])
        #expect(Weakness.personas.severity == .medium)
        sample.store.breakReads()
        #expect(await checkup.findings().map(\.weakness) == [.databaseTrouble, .personas])
    }

    @Test func `a database that cannot be read is the first finding, and the others are still made`() async throws {
        _ = try await sample.enrolled()
        let ports = sample.agent.ports.with(inspector: Told(findings: [Finding(.socketOpen, "open")]))
        sample.store.breakReads()
        let findings = await Checkup(ports: ports, keys: KeyHealth(), issuers: IssuerHealth()).findings()
        #expect(findings.map(\.weakness) == [.databaseTrouble, .socketOpen])
    }

    @Test func `a key that cannot be used is one, until it can`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        sample.custody.breakProofs()
        #expect(try await failureCode { try await sample.approve(id) } == .keyUnavailable)
        let finding = try #require(await found().first)
        #expect(finding.weakness == .keyUnusable && finding.enrollment == card.id && finding.severity == .high)
        sample.custody.breakProofs(false)
        try await sample.approve(id)
        #expect(await !found().contains { $0.weakness == .keyUnusable })
    }

    @Test func `a database that cannot be written is one`() async throws {
        let card = try await sample.enrolled()
        sample.store.breakWrites()
        await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
        #expect(await found().first?.weakness == .databaseTrouble)
    }
}

private struct Told: HostInspector {
    let told: [Finding]

    init(findings: [Finding]) { told = findings }

    func findings() async -> [Finding] { told }
}
