import IssuerProtocol
import Keys
import WebAuthn

/// A key for one check, which re-signs a message whose own signature is unchecked or invalid.
///
/// The agent and the sandbox check the signature before the other rules. With the new signature, their own code also
/// checks the rules behind it.
struct ThrowawayKey {
    private let key: SigningKey

    init() throws(OpenSSLError) { key = try SigningKey.generate(.es256) }

    var publicKey: PublicKey { key.publicKey }

    /// Returns the message with a signature of this key.
    func signed(_ message: CompactJWS) throws(OpenSSLError) -> String {
        CompactJWS.compact(
            signingInput: message.signingInput, signature: try key.rawSignature(over: message.signingInput))
    }

    /// Returns the assertion with other authenticator data and a signature of this key.
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
