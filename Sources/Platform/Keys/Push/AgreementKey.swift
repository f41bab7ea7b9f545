/// A key pair on P-256 for the key agreement of two parties (ECDH); it never signs.
struct AgreementKey: Sendable {
    private static let sharedCount = 32

    private let pair: PKey
    /// The public half, uncompressed: 65 bytes.
    let point: [UInt8]

    private init(_ pair: PKey) throws(OpenSSLError) {
        guard let point = try pair.publicMaterial(.es256).p256Point else {
            throw OpenSSLError(function: "EVP_PKEY_get_bn_param", reasons: [])
        }
        self.pair = pair
        self.point = point
    }

    static func generate() throws(OpenSSLError) -> AgreementKey {
        try AgreementKey(PKey.generate(.es256))
    }

    /// Makes the pair of a private value: 32 bytes, big-endian, from 1 to one less than the curve's order.
    init(scalar: Secret) throws(KeyError) {
        let pair = try PKey(p256Scalar: scalar)
        do throws(OpenSSLError) {
            try self.init(pair)
        } catch {
            throw .openSSL(error)
        }
    }

    func scalar() throws(OpenSSLError) -> Secret { try pair.p256Scalar() }

    /// Computes the ECDH secret of both parties: 32 bytes that are not uniformly random.
    ///
    /// Each party has its own pair and the other's point.
    func sharedSecret(with peer: PKey) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: Self.sharedCount) { output throws(OpenSSLError) in
            try unsafe PKeyContext(for: pair).deriveECDH(with: peer, into: output)
        }
    }
}
