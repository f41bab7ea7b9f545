/// The secret under which an agent keeps every key that it made: 16 to 1,024 bytes, uniformly random.
///
/// What is used is never the secret itself but keys derived from it by HKDF-SHA256 (RFC 5869), each for one use and
/// one label, so that one value cannot be opened in the place of another.
package struct AgentSecret: Sendable {
    /// The bytes a secret may have.
    package static let bytes = 16...1_024
    /// Also in the derivations, so that a later version can use the same secret in another way.
    private static let version = "oob-agent/1/"

    let secret: Secret
    /// What HKDF extracts of it (RFC 5869 §2.2): every derivation begins with that.
    private let extracted: Secret

    package init(_ secret: Secret) throws(AgentSecretError) {
        guard Self.bytes.contains(secret.count) else { throw .length(secret.count) }
        do throws(OpenSSLError) {
            try self.init(checked: secret)
        } catch {
            throw .openSSL(error)
        }
    }

    private init(checked secret: Secret) throws(OpenSSLError) {
        self.secret = secret
        extracted = try HKDF.extract(from: secret)
    }

    /// A new secret of 32 random bytes.
    package static func generate() throws(OpenSSLError) -> AgentSecret {
        try AgentSecret(checked: try Secret.random(32))
    }

    /// Bytes by which hosts see that they have the same secret, and that tell nothing else of it: 32 of HKDF.
    package func fingerprint() throws(OpenSSLError) -> [UInt8] {
        try unsafe derived("fingerprint", "").withBytes { unsafe Array($0) }
    }

    /// The key that seals under one label.
    func sealingKey(for label: String) throws(OpenSSLError) -> Secret {
        try derived("seal", label)
    }

    func derived(_ use: String, _ label: String) throws(OpenSSLError) -> Secret {
        // The zero byte keeps use and label apart: no use contains one.
        try HKDF.expand(extracted, info: Array((Self.version + use).utf8) + [0] + Array(label.utf8))
    }
}

extension AgentSecret: Equatable {
    /// Constant-time, except for the lengths.
    package static func == (left: AgentSecret, right: AgentSecret) -> Bool { left.secret == right.secret }
}

extension AgentSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { secret.description }
    package var debugDescription: String { secret.debugDescription }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Why bytes are no secret for an agent.
///
/// Tells the length and nothing else of them.
package enum AgentSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Too short or too long: it has that many bytes.
    case length(Int)
    case openSSL(OpenSSLError)

    package var description: String {
        switch self {
        case .length(let count):
            "the agent's secret has \(count) bytes; it must have \(AgentSecret.bytes.lowerBound) to "
                + "\(AgentSecret.bytes.upperBound), all random (such as: openssl rand -out FILE 32)"
        case .openSSL(let cause): cause.description
        }
    }
}

extension AgentSecret {
    /// The bytes of what `authenticator` gives.
    package static let authenticatorCount = 32

    /// A keyed hash of the bytes under this label: only a holder of the secret can make it.
    ///
    /// It is derived by HKDF-SHA256 as all keys are, for the SHA-256 of the bytes, so it is a keyed hash of them.
    package func authenticator(of bytes: [UInt8], label: String) throws(OpenSSLError) -> [UInt8] {
        let digest = try Secret(SHA256Digest.of(bytes)).hexadecimal()
        let text = unsafe digest.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        return try unsafe derived("authenticator", "\(label) \(text)").withBytes { unsafe Array($0) }
    }

    /// Whether `authenticator` gave this for the same bytes and label.
    package func isAuthenticator(_ code: [UInt8], of bytes: [UInt8], label: String) throws(OpenSSLError) -> Bool {
        ConstantTime.equal(code, try authenticator(of: bytes, label: label))
    }
}
