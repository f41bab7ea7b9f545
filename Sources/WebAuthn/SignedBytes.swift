package import Keys

/// What an assertion and a self attestation sign (WebAuthn Level 3 §6.3.3 step 11, §8.2).
package enum SignedBytes {
    /// The authenticator data, and after it SHA-256 of the client data.
    package static func of(authenticatorData: [UInt8], clientDataJSON: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        authenticatorData + (try SHA256Digest.of(clientDataJSON))
    }
}
