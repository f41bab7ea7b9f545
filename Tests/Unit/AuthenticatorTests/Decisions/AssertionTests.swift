import IssuerProtocol
import StrictJSON
import Testing
import WebAuthn

@testable import Records
@testable import Signing

/// What is signed is what was shown.
@Suite(.timeLimit(.minutes(20)))
struct AssertionTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func approved(_ request: SampleRequest, by card: SampleEnrollment) async throws -> AuthenticationResponse {
        try await sample.receive(request, for: card)
        try await sample.approve(sample.onlyRequest().id)
        return try await sample.outbox(of: card)[0].assertion
    }

    private func verify(
        _ response: AuthenticationResponse, of card: SampleEnrollment, challenge: [UInt8], verified: Bool = false
    ) throws(VerificationError) {
        _ = try AssertionVerifier.verify(
            response, publicKey: card.publicKey, credentialId: card.enrollment.credentialId,
            userHandle: Array("user".utf8), challenge: challenge, origin: "https://issuer.example",
            rpId: "issuer.example", userVerificationRequired: verified, signCount: .mustRise(above: 0))
    }

    @Test func `an approval verifies against the commitment to the transaction`() async throws {
        let card = try await sample.enrolled()
        let request = SampleRequest()
        let response = try await approved(request, by: card)
        try verify(response, of: card, challenge: try request.challenge)
        #expect(response.userHandle == Array("user".utf8))
    }

    @Test func `a change of any member of the transaction or of the nonce breaks it`() async throws {
        let card = try await sample.enrolled()
        let request = SampleRequest()
        let response = try await approved(request, by: card)
        for member in request.transaction.members {
            var other = request.transaction
            guard case .string(let value) = member.value else { throw SampleError("no string") }
            other[member.name] = .string(value + "0")
            let challenge = try ChallengeCommitment.challenge(nonce: request.nonce, transaction: other)
            #expect(throws: VerificationError.self, "\(member.name)") {
                try verify(response, of: card, challenge: challenge)
            }
            other[member.name] = nil
            let without = try ChallengeCommitment.challenge(nonce: request.nonce, transaction: other)
            #expect(throws: VerificationError.self, "without \(member.name)") {
                try verify(response, of: card, challenge: without)
            }
        }
        let challenge = try ChallengeCommitment.challenge(nonce: Array(1...16), transaction: request.transaction)
        #expect(throws: VerificationError.self) { try verify(response, of: card, challenge: challenge) }
    }

    @Test(arguments: [true, false])
    func `user verification is claimed if the key says that it verified the user, and else not`(
        verifies: Bool
    ) async throws {
        sample.custody.openedKeysVerifyUser(verifies)
        let response = try await approved(SampleRequest(), by: sample.enrolled())
        let flags = try AuthenticatorData.parse(response.authenticatorData).flags
        #expect(flags == (verifies ? [.userPresent, .userVerified] : .userPresent))
    }

    @Test func `a presence authenticator says that the user was there, and not that it verified anyone`() async throws {
        let card = try await sample.enrolled()
        let response = try await approved(SampleRequest(), by: card)
        #expect(try AuthenticatorData.parse(response.authenticatorData).flags == .userPresent)
    }

    @Test func `a test authenticator claims that it verified its user`() async throws {
        let card = try await sample.enrolled(authnType: .test)
        let request = SampleRequest(userVerification: "required")
        let response = try await approved(request, by: card)
        #expect(try AuthenticatorData.parse(response.authenticatorData).flags == [.userPresent, .userVerified])
        try verify(response, of: card, challenge: try request.challenge, verified: true)
    }

    @Test func `nothing is confirmed without a user, for another enrollment, or under a number that was used`()
        async throws
    {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        try await sample.receive(SampleRequest(), for: card)
        let request = try await sample.onlyRequest()
        let absent = UserCheck(isPresent: false, isVerified: true)
        let present = UserCheck(isPresent: true, isVerified: false)
        #expect(ConfirmedTransaction(request, of: card.enrollment, check: absent, signCount: 1) == nil)
        #expect(ConfirmedTransaction(request, of: other.enrollment, check: present, signCount: 1) == nil)
        #expect(ConfirmedTransaction(request, of: card.enrollment, check: present, signCount: 0) == nil)
        #expect(ConfirmedTransaction(request, of: card.enrollment, check: present, signCount: 1) != nil)
    }

    @Test func `nothing is confirmed of a request that is closed`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        var request = try await sample.onlyRequest()
        let present = UserCheck(isPresent: true, isVerified: false)
        let ends: [RequestLife] = [
            .expired, .cancelled, .refused(token: "x", reason: .policy),
            RequestLife(state: .approved, delivery: .queued), RequestLife(state: .denied(.policy), delivery: .queued),
        ]
        for end in ends {
            request.life = end
            #expect(ConfirmedTransaction(request, of: card.enrollment, check: present, signCount: 1) == nil)
        }
    }
}
