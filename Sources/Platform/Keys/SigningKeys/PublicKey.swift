import COpenSSL
import Synchronization

/// A public key that verifies signatures.
///
/// A point of P-256 or P-384 is known to be on its curve. The bytes of an Ed25519 key may not be a point; then no
/// signature is valid under it.
package final class PublicKey: Sendable {
    package let material: PublicKeyMaterial
    /// The key as an EVP_PKEY, made at its first use, because that takes as long as a signature.
    private let parsed: Mutex<PKey?>

    private init(_ material: PublicKeyMaterial, parsed: PKey?) {
        self.material = material
        self.parsed = Mutex(parsed)
    }

    /// Makes a key from its parts, if they are valid.
    ///
    /// Refuses parts of another length than the curve's, coordinates that are not a point on it, and an Ed25519 point
    /// of small order.
    package convenience init(_ material: PublicKeyMaterial) throws(KeyError) {
        guard material.hasItsLengths else { throw .malformed(nil) }
        if case .ed25519(let point) = material, Ed25519SmallOrder.contains(point) { throw .smallOrder }
        do throws(OpenSSLError) {
            try self.init(material, parsed: PKey(material))
        } catch {
            throw .notOnCurve
        }
    }

    /// Reads a DER SubjectPublicKeyInfo (RFC 5280 §4.1).
    ///
    /// It accepts P-256 or P-384 by name with an uncompressed point, or Ed25519, and no other.
    package convenience init(subjectPublicKeyInfo: [UInt8]) throws(KeyError) {
        guard let material = SubjectPublicKeyInfo.material(in: subjectPublicKeyInfo) else {
            throw Self.refusal(of: subjectPublicKeyInfo)
        }
        try self.init(material)
    }

    /// Reads the `subjectPublicKeyInfo` of a key that was checked before it was kept.
    ///
    /// The point is not checked to be on its curve again until the key is used.
    package convenience init(kept subjectPublicKeyInfo: [UInt8]) throws(KeyError) {
        guard let material = SubjectPublicKeyInfo.material(in: subjectPublicKeyInfo) else { throw .malformed(nil) }
        self.init(material, parsed: nil)
    }

    /// Makes the public half of a pair that OpenSSL made or has checked, without the private half.
    convenience init(ofPair material: PublicKeyMaterial) { self.init(material, parsed: nil) }

    private func key() throws(OpenSSLError) -> PKey {
        try parsed.withLock { parsed throws(OpenSSLError) in
            if let parsed { return parsed }
            let key = try PKey(material)
            parsed = key
            return key
        }
    }

    package var algorithm: SignatureAlgorithm { material.algorithm }

    /// The DER SubjectPublicKeyInfo: 91 bytes for P-256, 120 for P-384, 44 for Ed25519.
    package var subjectPublicKeyInfo: [UInt8] {
        SubjectPublicKeyInfo.encode(material)
    }

    /// The SubjectPublicKeyInfo as PEM, with a line feed at the end.
    package var pem: String {
        SubjectPublicKeyInfo.pem(subjectPublicKeyInfo)
    }

    /// Verifies a signature in WebAuthn's form (§6.5.5).
    ///
    /// For ECDSA that is a DER ECDSA-Sig-Value, for Ed25519 the 64 bytes of RFC 8032. A malformed signature is not
    /// valid.
    package func isValid(signature: [UInt8], over message: [UInt8]) throws(OpenSSLError) -> Bool {
        try DigestContext(algorithm).isValid(signature, by: key(), over: message)
    }

    /// Verifies a signature in a JWS's form.
    ///
    /// For ECDSA that is r || s (RFC 7518 §3.4), for Ed25519 the same bytes as in WebAuthn (RFC 8037 §3.1). A signature
    /// of any other length is not valid.
    package func isValid(rawSignature: [UInt8], over message: [UInt8]) throws(OpenSSLError) -> Bool {
        guard let count = algorithm.ecNumberCount else { return try isValid(signature: rawSignature, over: message) }
        guard let signature = try ECDSASignature.reading(raw: rawSignature, numberCount: count) else { return false }
        return try isValid(signature: signature.der(), over: message)
    }

    /// Returns the reason of a refusal.
    ///
    /// Bytes that are not a key are malformed. A key of another form or kind is not supported.
    private static func refusal(of subjectPublicKeyInfo: [UInt8]) -> KeyError {
        do throws(OpenSSLError) {
            _ = try PKey(subjectPublicKeyInfo: subjectPublicKeyInfo)
        } catch {
            return .malformed(error)
        }
        return .unsupported("it is neither P-256 or P-384 by name with an uncompressed point, nor Ed25519")
    }
}

extension PublicKey: Equatable {
    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.material == right.material
    }
}
