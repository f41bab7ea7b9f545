import IssuerProtocol
import StoreTables
import TestStores
import WebAuthn

@testable import Authenticator
@testable import Records

/// What an issuer offers who enrolls; a test changes what it is about.
struct SampleCeremony: Sendable {
    var rpId = "issuer.example"
    var algorithms = [-257, -7]
    var exclude: [[UInt8]] = []
    var userVerification = UserVerificationRequirement.preferred
    var attestation = AttestationConveyance.none

    static let challenge: [UInt8] = Array(0..<32)

    var answer: EnrollmentOptionsAnswer {
        EnrollmentOptionsAnswer(
            ceremonyId: "ceremony-1",
            options: PublicKeyCredentialCreationOptions(
                rpId: rpId, rpName: "Issuer", userId: Array("user".utf8), userName: "user", userDisplayName: "User",
                challenge: Self.challenge, pubKeyCredParams: algorithms, excludeCredentials: exclude,
                userVerification: userVerification, attestation: attestation))
    }
}

extension ScriptedIssuer {
    /// Offers a ceremony, and takes what comes.
    func enrolls(_ ceremony: SampleCeremony = SampleCeremony()) throws {
        let options = ceremony.answer
        onOptions { (_) throws(IssuerError) in options }
        let answer = try Self.enrollmentAnswer
        onEnrollment { (_) throws(IssuerError) in answer }
    }

    static var enrollmentAnswer: EnrollmentAnswer {
        get throws {
            guard let id = TokenID("authenticator-1"), let token = AccessToken("token-1") else {
                throw SampleError("no id")
            }
            return EnrollmentAnswer(authenticatorId: id, accessToken: token)
        }
    }
}

extension SampleAgent {
    static var code: EnrollmentCode {
        get throws {
            guard let code = EnrollmentCode("7QK4-M2XD") else { throw SampleError("no code") }
            return code
        }
    }

    func parameters(_ authnType: AuthnType = .presence, at issuer: String = "https://issuer.example") throws
        -> EnrollmentParameters
    {
        EnrollmentParameters(
            target: IssuerTarget(issuer: try IssuerURL(issuer), rootsPEM: nil), code: try Self.code,
            authnType: authnType,
            name: "my card")
    }

    /// All rows, also of what is over.
    func allEnrollments() async throws -> [Enrollment] {
        try await store.real.read { try $0.enrollments(includingEnded: true) }
    }
}
