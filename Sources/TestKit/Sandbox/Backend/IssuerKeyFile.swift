import DurableFiles
package import Keys

/// The issuer's keys beside a database file.
///
/// This is a sandbox: the secret that decrypts the keys lies next to them, with mode 0600, so that the sandbox starts
/// without a prompt. A real issuer keeps such keys in an HSM.
package enum IssuerKeyFile {
    /// The limit of a key file, far above the size of a sealed key.
    private static let maxBytes = 16 * 1_024

    /// The use of a key, which is also the end of its file's name.
    package enum Use: String, Sendable {
        case requests = "issuer-key"
        /// The key that authenticates the issuer as the sender of a push (RFC 8292).
        case vapid = "vapid-key"

        fileprivate var label: String {
            switch self {
            case .requests: "sandbox issuer signing key"
            case .vapid: "sandbox issuer VAPID key"
            }
        }
    }

    /// Loads the database's key for a use; the first call generates it.
    package static func key(for use: Use, besideDatabase database: String) throws -> SigningKey {
        let secret = try secret(at: database + ".issuer-secret")
        let path = database + "." + use.rawValue
        do {
            return try secret.openKey(DurableFile.read(path, maxBytes: maxBytes), label: use.label)
        } catch let error as FileError where error.reason == .missing {
            let key = try SigningKey.generate(.es256)
            try DurableFile.write(secret.seal(key, label: use.label), to: path, replacing: false)
            return key
        }
    }

    private static func secret(at path: String) throws -> AgentSecret {
        do {
            return try AgentSecret(Secret(DurableFile.read(path, maxBytes: AgentSecret.bytes.upperBound)))
        } catch let error as FileError where error.reason == .missing {
            let bytes = try SecureRandom.bytes(32)
            try DurableFile.write(bytes, to: path, replacing: false)
            return try AgentSecret(Secret(bytes))
        }
    }
}
