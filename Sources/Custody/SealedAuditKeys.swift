package import Authenticator
package import Keys

/// The audit key under the agent's secret: the one file from which the journal's marks are signed.
package struct SealedAuditKeys: AuditKeys {
    private static let label = "audit key"

    private let secret: AgentSecret

    package init(secret: AgentSecret) { self.secret = secret }

    /// Encrypted twice, as a key file is.
    package func make() throws -> [UInt8] {
        let key = try SigningKey.generate(.es256)
        let encrypted = try key.encryptedPKCS8(passphrase: secret.passphrase(for: Self.label))
        return try secret.seal(Secret(encrypted), label: Self.label)
    }

    package func open(_ sealed: [UInt8]) throws -> any JournalSigner {
        let encrypted = try unsafe secret.open(sealed, label: Self.label).withOctets { unsafe Array($0) }
        return Signer(
            key: try SigningKey(encryptedPKCS8: encrypted, passphrase: secret.passphrase(for: Self.label)))
    }

    private struct Signer: JournalSigner {
        let key: SigningKey

        var publicKey: PublicKey { key.publicKey }

        func signature(for statement: JournalStatement) throws -> [UInt8] {
            try key.signature(over: statement.octets)
        }
    }
}
