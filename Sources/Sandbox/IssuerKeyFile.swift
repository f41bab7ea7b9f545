package import Keys

/// The issuer's signing key beside a database file.
///
/// This is a sandbox: the secret that opens the key lies next to it, 0600, so that it starts without questions. A real
/// issuer keeps such a key in an HSM.
package enum IssuerKeyFile {
    private static let label = "sandbox issuer signing key"

    /// The key of that database; the first call makes it.
    package static func key(besideDatabase database: String) throws -> SigningKey {
        let secret = try secret(at: database + ".issuer-secret")
        let path = database + ".issuer-key"
        do {
            return try KeyFile.read(path: path, secret: secret, label: label)
        } catch KeyFileError.file(let error) where error.reason == .missing {
            let key = try SigningKey.generate(.es256)
            try KeyFile.write(key, to: path, secret: secret, label: label)
            return key
        }
    }

    private static func secret(at path: String) throws -> AgentSecret {
        do {
            return try AgentSecret(Secret(DurableFile.read(path, maxOctets: AgentSecret.octets.upperBound)))
        } catch let error as FileError where error.reason == .missing {
            let octets = try SecureRandom.octets(32)
            try DurableFile.write(octets, to: path, replacing: false)
            return try AgentSecret(Secret(octets))
        }
    }
}
