/// A key pair that signs.
///
/// It leaves memory only encrypted.
package final class SigningKey: Sendable {
    package let publicKey: PublicKey
    package let algorithm: SignatureAlgorithm
    let pair: PKey

    /// The pair must be on P-256.
    init(_ pair: PKey) throws(OpenSSLError) {
        publicKey = try PublicKey(of: pair)
        algorithm = publicKey.algorithm
        self.pair = pair
    }

    /// A new key pair from OpenSSL's generator for private values.
    package static func generate(_ algorithm: SignatureAlgorithm) throws(OpenSSLError) -> SigningKey {
        switch algorithm {
        case .es256: try SigningKey(PKey.generateP256())
        }
    }

    /// The signature as a DER ECDSA-Sig-Value, as WebAuthn wants it (§6.5.5): at most 72 octets.
    package func signature(over message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try DigestContext().signature(by: pair, over: message)
    }

    /// The signature as r || s, as a JWS wants it (RFC 7518 §3.4): 64 octets.
    package func rawSignature(over message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try ECDSASignature.reading(der: signature(over: message)).raw()
    }
}
