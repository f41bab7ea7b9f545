import COpenSSL

/// The only form of SubjectPublicKeyInfo that is written and read for each algorithm.
///
/// It is a curve's name with an uncompressed point (RFC 5480 §2), or Ed25519 (RFC 8410 §4).
enum SubjectPublicKeyInfo {
    static func encode(_ material: PublicKeyMaterial) -> [UInt8] {
        prefix(material.algorithm) + material.bytes
    }

    /// Reads a SubjectPublicKeyInfo in exactly one of these forms, or returns `nil` for every other form.
    static func material(in subjectPublicKeyInfo: [UInt8]) -> PublicKeyMaterial? {
        for algorithm in SignatureAlgorithm.allCases {
            let prefix = prefix(algorithm)
            guard subjectPublicKeyInfo.starts(with: prefix) else { continue }
            return PublicKeyMaterial(algorithm, bytes: subjectPublicKeyInfo.dropFirst(prefix.count))
        }
        return nil
    }

    /// Returns the text of RFC 7468 §13: base64 in lines of 64 characters.
    static func pem(_ subjectPublicKeyInfo: [UInt8]) -> String {
        var base64 = [UInt8](repeating: 0, count: (subjectPublicKeyInfo.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&base64, subjectPublicKeyInfo, CInt(subjectPublicKeyInfo.count))
        var text = "-----BEGIN PUBLIC KEY-----\n"
        for start in stride(from: 0, to: Int(count), by: 64) {
            text += String(decoding: base64[start..<min(start + 64, Int(count))], as: UTF8.self) + "\n"
        }
        return text + "-----END PUBLIC KEY-----\n"
    }

    /// Returns the bytes before the key: all lengths, the algorithm, and for a curve's point 04 (uncompressed).
    private static func prefix(_ algorithm: SignatureAlgorithm) -> [UInt8] {
        switch algorithm {
        case .es256:  // SEQUENCE { SEQUENCE { id-ecPublicKey, secp256r1 }, BIT STRING { 04 … } }
            [0x30, 0x59, 0x30, 0x13] + idECPublicKey + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
                + [0x03, 0x42, 0x00, 0x04]
        case .es384:  // SEQUENCE { SEQUENCE { id-ecPublicKey, secp384r1 }, BIT STRING { 04 … } }
            [0x30, 0x76, 0x30, 0x10] + idECPublicKey + [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
                + [0x03, 0x62, 0x00, 0x04]
        case .eddsa:  // SEQUENCE { SEQUENCE { id-Ed25519 }, BIT STRING { … } }
            [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        }
    }

    private static let idECPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
}
