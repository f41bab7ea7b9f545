import COpenSSL

/// A public key whose point is known to be on its curve.
package final class PublicKey: Sendable {
    package let algorithm: SignatureAlgorithm
    /// The affine coordinates, big-endian, 32 octets each.
    package let x: [UInt8]
    package let y: [UInt8]
    private let key: PKey

    private init(x: [UInt8], y: [UInt8], key: PKey) {
        (self.x, self.y, self.key, algorithm) = (x, y, key, .es256)
    }

    /// Refuses coordinates of another length than 32 octets, and those that are no point of the curve.
    package convenience init(p256X x: [UInt8], p256Y y: [UInt8]) throws(KeyError) {
        guard x.count == P256Encoding.coordinateCount, y.count == P256Encoding.coordinateCount else {
            throw .malformed(nil)
        }
        do throws(OpenSSLError) {
            try self.init(x: x, y: y, key: PKey(subjectPublicKeyInfo: P256Encoding.subjectPublicKeyInfo(x: x, y: y)))
        } catch {
            throw .notOnCurve
        }
    }

    /// Reads a DER SubjectPublicKeyInfo (RFC 5280 §4.1): P-256 by its name, with an uncompressed point, and no other.
    package convenience init(subjectPublicKeyInfo: [UInt8]) throws(KeyError) {
        guard let point = P256Encoding.coordinates(in: subjectPublicKeyInfo) else {
            throw Self.refusal(of: subjectPublicKeyInfo)
        }
        try self.init(p256X: point.x, p256Y: point.y)
    }

    /// The public half of a key pair, in an EVP_PKEY of its own that does not hold the private half.
    convenience init(of pair: PKey) throws(OpenSSLError) {
        let x = try pair.p256Coordinate(OSSL_PKEY_PARAM_EC_PUB_X)
        let y = try pair.p256Coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)
        try self.init(x: x, y: y, key: PKey(subjectPublicKeyInfo: P256Encoding.subjectPublicKeyInfo(x: x, y: y)))
    }

    /// The DER SubjectPublicKeyInfo, 91 octets.
    package var subjectPublicKeyInfo: [UInt8] {
        P256Encoding.subjectPublicKeyInfo(x: x, y: y)
    }

    /// The same as PEM, with a line feed at the end.
    package var pem: String {
        P256Encoding.pem(subjectPublicKeyInfo)
    }

    /// Whether a DER ECDSA-Sig-Value, as WebAuthn has it (§6.5.5), holds for the message.
    ///
    /// A malformed one does not.
    package func isValid(derSignature: [UInt8], over message: [UInt8]) throws(OpenSSLError) -> Bool {
        try DigestContext().isValid(derSignature, by: key, over: message)
    }

    /// Whether r || s, as a JWS has it (RFC 7518 §3.4), holds for the message.
    ///
    /// Any other length than 64 does not.
    package func isValid(rawSignature: [UInt8], over message: [UInt8]) throws(OpenSSLError) -> Bool {
        guard let signature = try ECDSASignature.reading(raw: rawSignature) else { return false }
        return try isValid(derSignature: signature.der(), over: message)
    }

    /// Says why: octets that are no key at all are malformed, a key of another form or kind is not supported.
    private static func refusal(of subjectPublicKeyInfo: [UInt8]) -> KeyError {
        do throws(OpenSSLError) {
            _ = try PKey(subjectPublicKeyInfo: subjectPublicKeyInfo)
        } catch {
            return .malformed(error)
        }
        return .unsupported("it is not P-256 by name with an uncompressed point")
    }
}

extension PublicKey: Equatable {
    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.algorithm == right.algorithm && left.x == right.x && left.y == right.y
    }
}
