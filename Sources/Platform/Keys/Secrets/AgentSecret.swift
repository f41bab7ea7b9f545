/// The secret that seals every key that an agent made: 16 to 1,024 bytes, uniformly random.
///
/// The secret itself is never used as a key. HKDF-SHA256 (RFC 5869) derives a key for each use and label, so that one
/// value cannot be opened in the place of another.
package struct AgentSecret: Sendable {
    /// The number of bytes that a secret may have.
    package static let bytes = 16...1_024
    /// A prefix of the derivations, so that a later version can use the same secret in another way.
    private static let version = "oob-agent/1/"

    let secret: Secret
    /// The key that HKDF extracts from the secret (RFC 5869 §2.2), where every derivation begins.
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

    /// Makes a new secret of 32 random bytes.
    package static func generate() throws(OpenSSLError) -> AgentSecret {
        try AgentSecret(checked: try Secret.random(32))
    }

    /// Returns 32 bytes of HKDF by which hosts compare their secrets, and which reveal no more of them.
    package func fingerprint() throws(OpenSSLError) -> [UInt8] {
        try unsafe derived("fingerprint", "").withBytes { unsafe Array($0) }
    }

    /// Returns the key that seals under one label.
    func sealingKey(for label: String) throws(OpenSSLError) -> Secret {
        try derived("seal", label)
    }

    func derived(_ use: String, _ label: String) throws(OpenSSLError) -> Secret {
        // The zero byte keeps use and label apart: no use contains one.
        try HKDF.expand(extracted, info: Array((Self.version + use).utf8) + [0] + Array(label.utf8))
    }
}

extension AgentSecret: Equatable {
    /// Compares in constant time, except for the lengths.
    package static func == (left: AgentSecret, right: AgentSecret) -> Bool { left.secret == right.secret }
}

extension AgentSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { secret.description }
    package var debugDescription: String { secret.debugDescription }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The reason why bytes are not a secret for an agent.
///
/// It reveals only their length.
package enum AgentSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The secret is too short or too long; it has this many bytes.
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
    /// The number of bytes that `authenticator` returns.
    package static let authenticatorCount = 32

    /// Returns a keyed hash of the bytes under this label, which only a holder of the secret can make.
    ///
    /// HKDF-SHA256 derives it from the SHA-256 of the bytes, as it derives all keys.
    package func authenticator(of bytes: [UInt8], label: String) throws(OpenSSLError) -> [UInt8] {
        let digest = try Secret(SHA256Digest.of(bytes)).hexadecimal()
        let text = unsafe digest.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        return try unsafe derived("authenticator", "\(label) \(text)").withBytes { unsafe Array($0) }
    }

    /// Returns whether `code` is the `authenticator` of these bytes and label.
    package func isAuthenticator(_ code: [UInt8], of bytes: [UInt8], label: String) throws(OpenSSLError) -> Bool {
        ConstantTime.equal(code, try authenticator(of: bytes, label: label))
    }
}
