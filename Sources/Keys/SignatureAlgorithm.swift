/// The signature algorithms that this program can make and check, by their COSE numbers (RFC 9053 §2.1).
package enum SignatureAlgorithm: Int, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = -7
}
