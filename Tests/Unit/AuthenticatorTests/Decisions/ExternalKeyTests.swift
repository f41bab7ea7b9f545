import Foundation
import IssuerProtocol
import Keys
import ScratchDirectories
import SoftKeys
import Testing
import WebAuthn

@testable import Authenticator
@testable import Records

/// Enrollments whose key the agent did not make: here one in a file of somebody's.
@Suite(.timeLimit(.minutes(20)))
struct ExternalKeyTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private var path: String { sample.directory.path + "/their.pem" }

    private func makeKey(curve: String = "P-256") throws {
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:" + curve, "-out", path])
    }

    private func parameters(_ authnType: AuthnType = .presence) throws -> EnrollmentParameters {
        EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: authnType, name: "my card",
            keyURI: try KeyURI("file:" + path))
    }

    private func begun(_ ceremony: SampleCeremony = SampleCeremony()) async throws -> Enrollment {
        try await sample.issuer.enrolls(ceremony)
        return try await sample.agent.enroll(parameters(), patience: 0)
    }

    /// Puts it into the store as its issuer has taken it.
    private func enrolled() async throws -> SampleEnrollment {
        let active = try await sample.register(begun())
        let key = try #require(active.key.external)
        return SampleEnrollment(enrollment: active, publicKey: key.facts.publicKey, token: "token-1")
    }

    @Test func `the sealed half of a key that the agent did not make is refused, and no export is in the journal`()
        async throws
    {
        try makeKey()
        let (agent, card) = (sample.agent, try await enrolled())
        let kinds = try await sample.recorded {
            let refusal = try await failure {
                _ = try await agent.exportKey(.sealed, of: card.id, for: SampleAgent.peer)
            }
            #expect(refusal.code == .invalidArgument && "\(refusal)".contains("did not make the key file:\(path)"))
        }
        #expect(kinds == [])
        #expect(try await agent.exportKey(.public, of: card.id, for: SampleAgent.peer).credentialKey == card.publicKey)
    }

    private func failure(_ body: () async throws -> Void) async throws -> CommandError {
        try await #require(throws: CommandError.self) { try await body() }
    }

    @Test func `the registration is of that key, and the agent makes none`() async throws {
        try makeKey()
        let enrollment = try await begun(SampleCeremony(attestation: .direct))
        guard case .enrolling(let body) = enrollment.state else { throw SampleError("not enrolling") }
        let verified = try RegistrationVerifier.verify(
            EnrollmentRequest(bytes: body).credential, challenge: SampleCeremony.challenge,
            origin: "https://issuer.example", rpId: "issuer.example", userVerificationRequired: false, algorithms: [-7])
        let pem = try ProgramRun.output(["openssl", "pkey", "-in", path, "-pubout"])
        #expect(verified.publicKey.pem == String(decoding: pem, as: UTF8.self))
        #expect(verified.format == .packed && !verified.flags.contains(.userVerified))
        #expect(try await sample.allEnrollments().map(\.sealedKey) == [nil])
        #expect(sample.agent.keyURI(of: enrollment) == "file:" + path)
    }

    @Test func `an approval is signed by that key, also after a restart`() async throws {
        try makeKey()
        let card = try await enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let restarted = try sample.restarted()
        try await restarted.approve(restarted.onlyRequest().id)
        let body = try #require(try await restarted.outbox(of: card).first?.body)
        guard case .approve(let response) = try DecisionMessage(bytes: body) else { throw SampleError("no approval") }
        let signed = response.authenticatorData + (try SHA256Digest.of(response.clientDataJSON))
        #expect(try card.publicKey.isValid(signature: response.signature, over: signed))
        let data = try AuthenticatorData.parse(response.authenticatorData)
        #expect(data.flags.contains(.userPresent) && !data.flags.contains(.userVerified))
    }

    @Test func `of the issuer's algorithms the key's is taken, and without it the key is refused`() async throws {
        try makeKey(curve: "P-384")
        let first = try await begun(SampleCeremony(algorithms: [-7, -35, -8]))
        #expect(first.algorithm == -35)
        _ = try await sample.agent.unenroll(first.id, locally: true, forced: true)
        try await sample.issuer.enrolls(SampleCeremony(algorithms: [-7, -8]))
        let refusal = try await failure { _ = try await sample.agent.enroll(parameters(), patience: 0) }
        #expect(refusal.code == .issuerRefused)
        #expect(refusal.message.contains("file:" + path) && refusal.message.contains("ES384"))
        #expect(try await sample.allEnrollments().count == 1)
    }

    @Test func `a key that is another enrollment's is refused until that is over`() async throws {
        try makeKey()
        let first = try await begun()
        // Under another name it is the same key.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        let again = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "again",
            keyURI: try KeyURI("file:" + path + ".moved"))
        let refusal = try await failure { _ = try await sample.agent.enroll(again, patience: 0) }
        #expect(refusal.code == .alreadyEnrolled && refusal.message.contains(first.id.text))
        #expect(try await sample.allEnrollments().count == 1)
        _ = try await sample.agent.unenroll(first.id, locally: true, forced: true)
        _ = try await sample.agent.enroll(again, patience: 0)
        #expect(try await sample.allEnrollments().count == 2)
    }

    @Test func `an end of the enrollment leaves the key where it is`() async throws {
        try makeKey()
        let card = try await enrolled()
        let before = try Data(contentsOf: URL(filePath: path))
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        guard case .ended = try await sample.enrollment(card.id).state else {
            throw SampleError("not ended")
        }
    }

    @Test func `a key that cannot be used costs no code and leaves no row`() async throws {
        try await sample.issuer.enrolls()
        let missing = try await failure { _ = try await sample.agent.enroll(parameters(), patience: 0) }
        #expect(missing.code == .keyUnavailable && missing.message.contains(path))
        try makeKey()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let open = try await failure { _ = try await sample.agent.enroll(parameters(), patience: 0) }
        #expect(open.code == .keyUnavailable && open.message.contains("0644"))
        #expect(await sample.issuer.codes.isEmpty)
        #expect(try await sample.allEnrollments().isEmpty)
    }

    @Test func `an encrypted key is not used without its PIN`() async throws {
        try makeKey()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".clear")
        try ProgramRun.output(
            ["openssl", "pkcs8", "-topk8", "-in", path + ".clear", "-out", path, "-passout", "pass:2468"])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try await sample.issuer.enrolls()
        let refusal = try await failure { _ = try await sample.agent.enroll(parameters(), patience: 0) }
        #expect(refusal.code == .userNotVerified)
        #expect(await sample.issuer.codes.isEmpty)
    }

    @Test(arguments: ["replaced", "cut", "open to others", "gone"])
    func `a key that is not in order any more signs nothing, and the request waits`(what: String) async throws {
        try makeKey()
        let card = try await enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let before = try Data(contentsOf: URL(filePath: path))
        switch what {
        case "replaced": try makeKey()
        case "cut": try before.dropLast(60).write(to: URL(filePath: path))
        case "open to others":
            try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        default: try FileManager.default.removeItem(atPath: path)
        }
        let refusal = try await failure { _ = try await sample.approve(id) }
        #expect(refusal.code == .keyUnavailable && refusal.message.contains(path))
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.enrollment(card.id).signCount == 0)
        try before.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try await sample.approve(id)
        #expect(try await sample.enrollment(card.id).signCount == 1)
    }
}
