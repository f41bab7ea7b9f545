import Keys
import StrictJSON
import Testing

@testable import WebAuthn

/// Bytes that Chromium's own authenticator and client made.
@Suite struct BrowserTests {
    @Test func `a browser's registration is read and written back the same`() throws {
        let vectors = try BrowserVectors.file()
        let bytes = try vectors.base64url("attestationObject_b64u", bytes: 1...4_096)
        let object = try AttestationObject.parse(bytes)
        let data = try AuthenticatorData.parse(object.authenticatorData)
        let spki = try vectors.base64url("spki_b64u", bytes: 91...91)
        #expect(object.encoded() == bytes)
        #expect(data.encoded() == object.authenticatorData)
        #expect(data.flags == [.userPresent, .userVerified, .attestedCredentialData])
        #expect(try data.attestedCredential?.publicKey == PublicKey(subjectPublicKeyInfo: spki))
    }
}
