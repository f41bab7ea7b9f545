package import Keys

/// Public keys as COSE_Key maps (RFC 9052 §7).
///
/// EC2 keys on P-256 for ES256 and on P-384 for ES384 (RFC 9053 §7.1.1), OKP keys on Ed25519 for EdDSA (RFC 9053 §7.2).
package enum COSEKey {
    /// Labels of the map's members (RFC 9052 §7.1, RFC 9053 §7.1.1 and §7.2).
    private enum Label {
        static let kty: CBOR = 1
        static let alg: CBOR = 3
        static let crv: CBOR = -1
        static let x: CBOR = -2
        static let y: CBOR = -3
    }

    /// Returns the canonical encoding of the map: 77 bytes for ES256, 110 for ES384, 42 for EdDSA.
    package static func encode(_ key: PublicKey) -> [UInt8] {
        let alg: CBOR = .integer(key.algorithm.rawValue)
        let (kty, crv) = key.algorithm.kind
        let map: CBORMap =
            switch key.material {
            case .p256(let x, let y), .p384(let x, let y):
                [Label.kty: kty, Label.alg: alg, Label.crv: crv, Label.x: .bytes(x), Label.y: .bytes(y)]
            case .ed25519(let point):
                [Label.kty: kty, Label.alg: alg, Label.crv: crv, Label.x: .bytes(point)]
            }
        return CBOR.map(map).encoded()
    }

    /// Decodes the key at the start of the bytes, and returns the number of its bytes.
    ///
    /// The map has exactly the members of its kind, and its point is uncompressed and on the curve: WebAuthn Level 3
    /// §6.5.1.1 and §5.8.5 allow no other parameter and no compressed point.
    package static func decode(_ bytes: [UInt8]) throws(COSEKeyError) -> (key: PublicKey, consumed: Int) {
        let (map, consumed) = try map(at: bytes)
        guard let algorithm = map[Label.alg]?.integer.flatMap(SignatureAlgorithm.init(rawValue:)),
            map[Label.kty] == algorithm.kind.kty, map[Label.crv] == algorithm.kind.crv
        else { throw .unsupported }
        let material = try material(algorithm, map)
        do { return (try PublicKey(material), consumed) } catch { throw .key(error) }
    }

    private static func material(
        _ algorithm: SignatureAlgorithm, _ map: CBORMap
    ) throws(COSEKeyError) -> PublicKeyMaterial {
        switch (algorithm, map[Label.x], map[Label.y], map.count) {
        case (.es256, .bytes(let x)?, .bytes(let y)?, 5): .p256(x: x, y: y)
        case (.es384, .bytes(let x)?, .bytes(let y)?, 5): .p384(x: x, y: y)
        case (.eddsa, .bytes(let point)?, nil, 4): .ed25519(point)
        default: throw .members
        }
    }

    private static func map(at bytes: [UInt8]) throws(COSEKeyError) -> (map: CBORMap, consumed: Int) {
        let (item, consumed): (CBOR, Int)
        do { (item, consumed) = try CBOR.decodePrefix(bytes) } catch { throw .cbor(error) }
        guard case .map(let map) = item else { throw .members }
        return (map, consumed)
    }
}

extension SignatureAlgorithm {
    /// The key type and the curve of the algorithm, by their COSE numbers.
    ///
    /// WebAuthn Level 3 §5.8.5: EC2 is 2 and OKP 1; P-256 is 1, P-384 is 2 and Ed25519 is 6.
    fileprivate var kind: (kty: CBOR, crv: CBOR) {
        switch self {
        case .es256: (2, 1)
        case .es384: (2, 2)
        case .eddsa: (1, 6)
        }
    }
}

/// An error in the bytes of a COSE_Key that this code should read.
package enum COSEKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    case cbor(CBORError)
    /// The key is for another algorithm or curve.
    case unsupported
    /// A member is missing, malformed, or superfluous.
    case members
    /// The members are not a key.
    ///
    /// For example, a point is not on the curve or has a wrong length.
    case key(KeyError)

    package var description: String {
        switch self {
        case .cbor(let error): "COSE key: \(error)"
        case .unsupported: "COSE key: neither ES256 on P-256, ES384 on P-384 nor EdDSA on Ed25519, by kty, alg and crv"
        case .members: "COSE key: not a map of kty, alg, crv and x alone, and for an EC2 key y"
        case .key(let error): "COSE key: \(error)"
        }
    }
}
