/// What a key signs to show that it can: random bytes behind a text of their own.
///
/// No relying party can take the signature for an assertion or an attestation. Those are over authenticator data, which
/// begins with the SHA-256 of an RP ID (WebAuthn §6.1); to find one whose digest begins with this text is to find a
/// preimage of 184 bits.
enum SelfTest {
    static let prefix = Array("oob-agent key self-test".utf8)

    static func message() throws(OpenSSLError) -> [UInt8] { try prefix + SecureRandom.bytes(32) }
}

extension SigningKey {
    /// Signs such a message, and says whether the public half verifies that.
    package func provesItself() throws(OpenSSLError) -> Bool {
        let message = try SelfTest.message()
        return try publicKey.isValid(signature: signature(over: message), over: message)
    }
}
