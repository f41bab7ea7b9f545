import Foundation
import Keys
import StrictJSON
import Testing

@testable import WebAuthn

/// Octets that Chromium's own authenticator and client made.
@Suite struct BrowserTests {
    private func vectors() throws -> JSONObject {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let octets = Array(try Data(contentsOf: tests.appending(path: "Vectors/spc-chromium.json")))
        return try JSONReader.object(octets, limits: JSONLimits(maxOctets: 1_000_000))
    }

    @Test func `a browser's registration is read and written back the same`() throws {
        let vectors = try vectors()
        let octets = try vectors.base64url("attestationObject_b64u", octets: 1...4_096)
        let object = try AttestationObject.parse(octets)
        let data = try AuthenticatorData.parse(object.authenticatorData)
        let spki = try vectors.base64url("spki_b64u", octets: 91...91)
        #expect(object.encoded() == octets)
        #expect(data.encoded() == object.authenticatorData)
        #expect(data.flags == [.userPresent, .userVerified, .attestedCredentialData])
        #expect(try data.attestedCredential?.publicKey == PublicKey(subjectPublicKeyInfo: spki))
    }

    @Test(arguments: ["EUR", "JPY"])
    func `a browser's payment assertion is signed, but is no webauthn.get`(currency: String) throws {
        let vectors = try vectors()
        let vector = try vectors.object("vectors").object(currency)
        let response = AuthenticationResponse(
            credentialId: try vector.base64url("id", octets: 1...64),
            clientDataJSON: Array(try vector.string("cd").utf8),
            authenticatorData: try vector.base64url("ad", octets: 37...37),
            signature: try vector.base64url("sig", octets: 1...80))
        let key = try PublicKey(subjectPublicKeyInfo: try vectors.base64url("spki_b64u", octets: 91...91))
        #expect(
            try key.hasSigned(
                authenticatorData: response.authenticatorData, clientDataJSON: response.clientDataJSON,
                signature: response.signature))
        let failure = try #require(throws: VerificationFailure.self) {
            try AssertionVerifier.verify(
                response, publicKey: key, credentialId: response.credentialId,
                challenge: Array(repeating: 0x07, count: 32), origin: "http://localhost:18123", rpId: "localhost",
                userVerificationRequired: true, signCount: .mustRise(above: 0))
        }
        #expect(failure.code == .type)
    }
}
