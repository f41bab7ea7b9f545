package import Keys

/// Public keys as COSE_Key maps: EC2 keys on P-256 for ES256 (RFC 9052 §7, RFC 9053 §7.1.1).
package enum COSEKey {
    /// Labels of the map's members (RFC 9052 §7.1, RFC 9053 §7.1.1).
    private enum Label {
        static let kty: CBOR = 1
        static let alg: CBOR = 3
        static let crv: CBOR = -1
        static let x: CBOR = -2
        static let y: CBOR = -3
    }

    private static let ec2: CBOR = 2
    private static let p256: CBOR = 1

    /// The canonical encoding of the map: 77 octets.
    package static func encode(_ key: PublicKey) -> [UInt8] {
        let map: CBORMap = [
            Label.kty: ec2, Label.alg: .integer(key.algorithm.rawValue), Label.crv: p256,
            Label.x: .bytes(key.x), Label.y: .bytes(key.y),
        ]
        return CBOR.map(map).encoded()
    }

    /// Reads a key at the start of the octets, and says how many of them it took.
    ///
    /// The map has exactly the five members of an ES256 key, its point uncompressed and on the curve: WebAuthn Level 3
    /// §6.5.1.1 and §5.8.5 allow no other parameter and no compressed point.
    package static func decode(_ octets: [UInt8]) throws(COSEKeyError) -> (key: PublicKey, consumed: Int) {
        let (map, consumed) = try map(at: octets)
        guard map[Label.kty] == ec2, map[Label.alg] == .integer(SignatureAlgorithm.es256.rawValue),
            map[Label.crv] == p256
        else { throw .unsupported }
        guard map.count == 5, case .bytes(let x)? = map[Label.x], x.count == 32,
            case .bytes(let y)? = map[Label.y], y.count == 32
        else { throw .members }
        do { return (try PublicKey(p256X: x, p256Y: y), consumed) } catch { throw .key(error) }
    }

    private static func map(at octets: [UInt8]) throws(COSEKeyError) -> (map: CBORMap, consumed: Int) {
        let (item, consumed): (CBOR, Int)
        do { (item, consumed) = try CBOR.decodePrefix(octets) } catch { throw .cbor(error) }
        guard case .map(let map) = item else { throw .members }
        return (map, consumed)
    }
}

/// Why octets are not a COSE_Key of ours.
package enum COSEKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    case cbor(CBORError)
    /// The key is for another algorithm or curve.
    case unsupported
    /// A member is missing, not of its form, or one too many.
    case members
    /// The coordinates make no key, such as a point that is not on the curve.
    case key(KeyError)

    package var description: String {
        switch self {
        case .cbor(let error): "COSE key: \(error)"
        case .unsupported: "COSE key: not an EC2 key on P-256 for ES256 (kty 2, alg -7, crv 1)"
        case .members: "COSE key: not a map of kty, alg, crv, x and y alone, x and y of 32 octets each"
        case .key(let error): "COSE key: \(error)"
        }
    }
}
