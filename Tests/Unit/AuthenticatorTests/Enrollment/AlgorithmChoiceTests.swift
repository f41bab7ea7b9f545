import IssuerProtocol
import Keys
import ScratchDirectories
import Testing
import WebAuthn

@testable import Authenticator
@testable import Records

/// Which signature algorithm an enrollment gets.
@Suite(.timeLimit(.minutes(20)))
struct AlgorithmChoiceTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test(
        arguments: [
            ([-7], .es256), ([-35], .es384), ([-8], .eddsa), ([-8, -7], .eddsa), ([-7, -8], .es256),
            ([-257, -36, -35, -8, -7], .es384), ([-19, 7, -8, -8], .eddsa),
        ] as [([Int], SignatureAlgorithm)])
    func `the first of the issuer's list that the agent has is the key's`(
        offered: [Int], expected: SignatureAlgorithm
    ) async throws {
        try await sample.issuer.enrolls(SampleCeremony(algorithms: offered, attestation: .direct))
        let enrollment = try await sample.agent.enroll(sample.parameters(), patience: 0)
        #expect(enrollment.algorithm == expected.rawValue)
        guard case .enrolling(let body) = enrollment.state else { throw SampleError("not enrolling") }
        let verified = try RegistrationVerifier.verify(
            EnrollmentRequest(bytes: body).credential, challenge: SampleCeremony.challenge,
            origin: "https://issuer.example", rpId: "issuer.example", userVerificationRequired: false,
            algorithms: offered)
        #expect(verified.publicKey.algorithm == expected && verified.format == .packed)
    }

    @Test(arguments: [[-257, -37], [-36], [7, 35, 8], [-19, -9, -51]])
    func `if the agent has none of the list the refusal names those that it has`(offered: [Int]) async throws {
        try await sample.issuer.enrolls(SampleCeremony(algorithms: offered))
        let failure = try await #require(throws: CommandError.self) {
            try await sample.agent.enroll(sample.parameters(), patience: 0)
        }
        #expect(failure.code == .issuerRefused)
        #expect(failure.message.hasSuffix("(ES256, ES384, EdDSA)"))
        #expect(try await sample.allEnrollments().isEmpty)
        #expect(try await sample.allEnrollments().isEmpty)
    }
}
