/// The message that a key signs to prove that it can: random bytes after a fixed text.
///
/// No relying party can accept the signature as an assertion or an attestation. Those are over authenticator data,
/// which begins with the SHA-256 of an RP ID (WebAuthn §6.1). To find an RP ID whose digest begins with this text is to
/// find a preimage of 184 bits.
enum SelfTest {
    static let prefix = Array("oob-agent key self-test".utf8)

    static func message() throws(OpenSSLError) -> [UInt8] { try prefix + SecureRandom.bytes(32) }
}

extension SigningKey {
    /// Signs such a message, and returns whether the public half verifies it.
    package func provesItself() throws(OpenSSLError) -> Bool {
        let message = try SelfTest.message()
        return try publicKey.isValid(signature: signature(over: message), over: message)
    }
}
