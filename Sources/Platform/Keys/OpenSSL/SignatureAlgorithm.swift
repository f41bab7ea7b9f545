/// The signature algorithms that this program can sign with and verify, by their COSE numbers.
///
/// WebAuthn gives each of them one curve (Level 3 §5.8.5).
package enum SignatureAlgorithm: Int, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256 (RFC 9053 §2.1).
    case es256 = -7
    /// ECDSA on P-384 with SHA-384 (RFC 9053 §2.1).
    case es384 = -35
    /// EdDSA on Ed25519 (RFC 9053 §2.2).
    case eddsa = -8

    /// The name in IANA's registry "COSE Algorithms".
    package var name: String {
        switch self {
        case .es256: "ES256"
        case .es384: "ES384"
        case .eddsa: "EdDSA"
        }
    }
}

extension SignatureAlgorithm {
    /// The length of a coordinate of the public point, and of each number of a signature.
    ///
    /// `nil` for EdDSA, whose points and signatures are bytes without parts.
    var ecNumberCount: Int? {
        switch self {
        case .es256: 32
        case .es384: 48
        case .eddsa: nil
        }
    }
}
