import IssuerProtocol
import Keys
import WebAuthn

/// A key that lives for one check, and signs a message anew whose own signature cannot be checked or does not hold.
///
/// So the rules behind the signature are judged by the very code that judges them in the agent and the sandbox, which
/// looks at none of them before the signature.
struct ThrowawayKey {
    private let key: SigningKey

    init() throws(OpenSSLError) { key = try SigningKey.generate(.es256) }

    var publicKey: PublicKey { key.publicKey }

    /// The same message with a signature of this key's.
    func signed(_ message: CompactJWS) throws(OpenSSLError) -> String {
        CompactJWS.compact(
            signingInput: message.signingInput, signature: try key.rawSignature(over: message.signingInput))
    }

    /// The same assertion over these authenticator data, with a signature of this key's.
    func signed(
        _ response: AuthenticationResponse, authenticatorData: [UInt8]
    ) throws(OpenSSLError) -> AuthenticationResponse {
        let bytes = try SignedBytes.of(authenticatorData: authenticatorData, clientDataJSON: response.clientDataJSON)
        return AuthenticationResponse(
            credentialId: response.credentialId, clientDataJSON: response.clientDataJSON,
            authenticatorData: authenticatorData, signature: try key.signature(over: bytes),
            userHandle: response.userHandle)
    }
}
