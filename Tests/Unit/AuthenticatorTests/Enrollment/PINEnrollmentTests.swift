import DurableFiles
import IssuerProtocol
import Keys
import ScratchDirectories
import SoftKeys
import TestStores
import Testing
import WebAuthn

@testable import Authenticator
@testable import Journal
@testable import Records

/// Enrollments of authnType `pin`, and the change of a PIN.
@Suite(.timeLimit(.minutes(20)))
struct PINEnrollmentTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func parameters(_ authnType: AuthnType = .pin, pin: PIN?, keyURI: KeyURI? = nil) throws
        -> EnrollmentParameters
    {
        EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: authnType, name: "my card",
            keyURI: keyURI,
            pin: pin)
    }

    private func pin(_ text: String) throws -> PIN { try PIN(Secret(Array(text.utf8))) }

    /// A key file of somebody's that takes a PIN.
    private func theirKey(pin: String) throws -> KeyURI {
        let path = sample.directory.path + "/their.pem"
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass"]
                + ["pass:" + pin, "-out", path])
        return try KeyURI("file:" + path)
    }

    @Test func `the registration says that the user was verified, if the issuer requires it`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(userVerification: .required))
        let enrollment = try await sample.agent.enroll(parameters(pin: .right), patience: 0)
        guard case .enrolling(let body) = enrollment.state else { throw SampleError("not enrolling") }
        let request = try EnrollmentRequest(bytes: body)
        let verified = try RegistrationVerifier.verify(
            request.credential, challenge: SampleCeremony.challenge, origin: "https://issuer.example",
            rpId: "issuer.example", userVerificationRequired: true, algorithms: [-7])
        #expect(verified.flags.contains([.userPresent, .userVerified]))
        #expect(request.authnType == .pin && !enrollment.isPINGuessable)
    }

    @Test func `a PIN is given exactly for authnType pin; else no code is used`() async throws {
        try await sample.issuer.enrolls()
        for parameters in [try parameters(pin: nil), try parameters(.presence, pin: .right)] {
            let code = try await failureCode { _ = try await sample.agent.enroll(parameters, patience: 0) }
            #expect(code == .invalidArgument)
        }
        #expect(await sample.issuer.codes.isEmpty)
        #expect(try await sample.allEnrollments().isEmpty)
    }

    @Test(.ofSQLite) func `that a PIN is easily guessed is kept until it is changed`() async throws {
        try await sample.issuer.enrolls()
        let enrollment = try await sample.agent.enroll(parameters(pin: pin("1234")), patience: 0)
        #expect(try await sample.restarted().enrollment(enrollment.id).isPINGuessable)
        try await sample.agent.changePIN(of: enrollment.id, from: pin("1234"), to: .right)
        #expect(try await !sample.enrollment(enrollment.id).isPINGuessable)
        try await sample.agent.changePIN(of: enrollment.id, from: .right, to: pin("2019"))
        #expect(try await sample.enrollment(enrollment.id).isPINGuessable)
    }

    @Test func `after a change the new PIN approves, and the old one does not`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 3)
        let new = try pin("a new one")
        let kinds = try await sample.recorded { try await sample.agent.changePIN(of: card.id, from: .right, to: new) }
        #expect(kinds == [.pinChanged])
        #expect(try await sample.tries(of: card) == .fresh)
        #expect(try await sample.agent.journal.verify().fault == nil)
        let restarted = try sample.restarted()
        #expect(try await restarted.refusal(of: request, pin: .right)?.code == .userNotVerified)
        #expect(try await restarted.refusal(of: request, pin: new) == nil)
    }

    @Test func `a wrong old PIN counts as at an approval, and changes nothing`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 3)
        var codes: [CommandError.Code?] = []
        for old in [try PIN.wrong, try PIN.wrong, try PIN.right] {
            codes.append(
                try await failureCode { try await sample.agent.changePIN(of: card.id, from: old, to: pin("2468")) })
        }
        #expect(codes == [.userNotVerified, .blocked, .blocked])
        sample.clock.advance(by: 60)
        #expect(try await sample.refusal(of: request, pin: .right) == nil)
    }

    @Test func `a change whose turn does not come within 30 s tries no PIN and changes nothing`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        let queues = sample.agent.decider.queues
        try await queues.inTurn(card.id) {
            async let refused = failureCode {
                try await sample.agent.changePIN(of: card.id, from: .wrong, to: pin("2468"))
            }
            while queues.waiterCount(for: card.id) < 1, !Task.isCancelled { await Task.yield() }
            sample.clock.advance(by: PINChange.patience)
            let code = try await refused
            #expect(code == .notInTime)
        }
        #expect(try await sample.tries(of: card) == .fresh)
        #expect(try await sample.refusal(of: request, pin: .right) == nil)
    }

    @Test func `a PIN is not changed if there is none, or if another keeps the key`() async throws {
        let card = try await sample.enrolled()
        let refusal = try await #require(throws: CommandError.self) {
            try await sample.agent.changePIN(of: card.id, from: .right, to: pin("2468"))
        }
        #expect(refusal.code == .invalidArgument && refusal.message.contains("authnType presence, which has no PIN"))
        try await sample.issuer.enrolls()
        let uri = try theirKey(pin: "736251")
        let theirs = try await sample.agent.enroll(parameters(pin: .right, keyURI: uri), patience: 0)
        #expect(
            try await failureCode { try await sample.agent.changePIN(of: theirs.id, from: .right, to: pin("2468")) }
                == .invalidArgument)
        #expect(try await sample.enrollment(theirs.id).ownPINTries == .fresh)
    }

    @Test func `the PIN of a key that was there already is that key's, and wrong ones count here too`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(userVerification: .required))
        let uri = try theirKey(pin: "736251")
        #expect(
            try await failureCode {
                _ = try await sample.agent.enroll(parameters(pin: .wrong, keyURI: uri), patience: 0)
            }
                == .userNotVerified)
        #expect(await sample.issuer.codes.isEmpty)
        let enrollment = try await sample.agent.enroll(parameters(pin: .right, keyURI: uri), patience: 0)
        let active = try await sample.register(enrollment)
        let key = try #require(active.key.external)
        let card = SampleEnrollment(enrollment: active, publicKey: key.facts.publicKey, token: "token-1")
        try await sample.receive(SampleRequest(userVerification: "required"), for: card)
        let request = try await sample.onlyRequest().id
        #expect(try await sample.refusal(of: request, pin: .wrong)?.code == .userNotVerified)
        let path = try DurableFile.read(sample.directory.path + "/their.pem", maxBytes: 16_384)
        try DurableFile.remove(sample.directory.path + "/their.pem")
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .keyUnavailable)
        #expect(try await sample.tries(of: card).failures == 1)
        try DurableFile.write(path, to: sample.directory.path + "/their.pem", replacing: false)
        try await sample.approve(request, pin: .right)
        let data = try AuthenticatorData.parse(try await sample.outbox(of: card)[0].assertion.authenticatorData)
        #expect(data.flags == [.userPresent, .userVerified])
        #expect(try await sample.tries(of: card) == .fresh)
    }
}
