import COpenSSL

/// The one SubjectPublicKeyInfo form that this program writes and reads for P-256 (RFC 5480 §2): the curve by its
/// name, the point uncompressed.
enum P256Encoding {
    /// The octets of each coordinate.
    static let coordinateCount = 32

    /// SEQUENCE { SEQUENCE { id-ecPublicKey, secp256r1 }, BIT STRING { 04 … } }, up to where the coordinates begin.
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    static func subjectPublicKeyInfo(x: [UInt8], y: [UInt8]) -> [UInt8] {
        prefix + x + y
    }

    /// The coordinates of a SubjectPublicKeyInfo in exactly this form; nil for every other form.
    static func coordinates(in subjectPublicKeyInfo: [UInt8]) -> (x: [UInt8], y: [UInt8])? {
        guard subjectPublicKeyInfo.count == prefix.count + 2 * coordinateCount,
            subjectPublicKeyInfo.starts(with: prefix)
        else { return nil }
        let point = subjectPublicKeyInfo.dropFirst(prefix.count)
        return (Array(point.prefix(coordinateCount)), Array(point.suffix(coordinateCount)))
    }

    /// The text of RFC 7468 §13: base64 in lines of 64 characters.
    static func pem(_ subjectPublicKeyInfo: [UInt8]) -> String {
        var base64 = [UInt8](repeating: 0, count: (subjectPublicKeyInfo.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&base64, subjectPublicKeyInfo, CInt(subjectPublicKeyInfo.count))
        var text = "-----BEGIN PUBLIC KEY-----\n"
        for start in stride(from: 0, to: Int(count), by: 64) {
            text += String(decoding: base64[start..<min(start + 64, Int(count))], as: UTF8.self) + "\n"
        }
        return text + "-----END PUBLIC KEY-----\n"
    }
}
