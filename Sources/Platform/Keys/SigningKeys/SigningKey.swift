/// A key pair that signs.
///
/// It leaves memory only encrypted.
package final class SigningKey: Sendable {
    package let publicKey: PublicKey
    let pair: PKey

    /// Makes a key from a pair, which must be on the algorithm's curve.
    convenience init(_ pair: PKey, _ algorithm: SignatureAlgorithm) throws(OpenSSLError) {
        try self.init(pair, pair.publicMaterial(algorithm))
    }

    init(_ pair: PKey, _ material: PublicKeyMaterial) {
        publicKey = PublicKey(ofPair: material)
        self.pair = pair
    }

    /// Makes a new key pair with OpenSSL's generator for private values.
    package static func generate(_ algorithm: SignatureAlgorithm) throws(OpenSSLError) -> SigningKey {
        try SigningKey(PKey.generate(algorithm), algorithm)
    }

    package var algorithm: SignatureAlgorithm { publicKey.algorithm }

    /// Signs in WebAuthn's form (§6.5.5).
    ///
    /// For ECDSA the signature is a DER ECDSA-Sig-Value of at most 72 bytes (P-256) or 104 (P-384), for Ed25519 the 64
    /// bytes of RFC 8032.
    package func signature(over message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try DigestContext(algorithm).signature(by: pair, over: message)
    }

    /// Signs in a JWS's form.
    ///
    /// For ECDSA the signature is r || s (RFC 7518 §3.4), 64 bytes (P-256) or 96 (P-384), for Ed25519 the same as in
    /// WebAuthn (RFC 8037 §3.1).
    package func rawSignature(over message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let signature = try signature(over: message)
        guard let count = algorithm.ecNumberCount else { return signature }
        return try ECDSASignature.reading(der: signature).raw(numberCount: count)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// A mirror without children, because `dump` would show the key's address in memory.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
