package import Authenticator
package import Keys

/// The audit key under the agent's secret: the one file from which the journal's marks are signed.
package struct SealedAuditKeys: AuditKeys {
    private static let label = SealedUse.auditKey.label

    private let secret: AgentSecret
    private let previous: AgentSecret?

    /// - Parameter previous: the secret that the key may still be under, while the agent's secret changes.
    package init(secret: AgentSecret, previous: AgentSecret? = nil) {
        self.secret = secret
        self.previous = previous
    }

    /// Encrypted twice, as a key file is.
    package func make() throws -> [UInt8] {
        let key = try SigningKey.generate(.es256)
        let encrypted = try key.encryptedPKCS8(passphrase: secret.passphrase(for: Self.label))
        return try secret.seal(Secret(encrypted), label: Self.label)
    }

    package func open(_ sealed: [UInt8]) throws -> any JournalSigner {
        do {
            return try Self.open(sealed, under: secret)
        } catch SealError.notSealedByThisSecret {
            guard let previous else { throw SealError.notSealedByThisSecret }
            return try Self.open(sealed, under: previous)
        }
    }

    private static func open(_ sealed: [UInt8], under secret: AgentSecret) throws -> Signer {
        let encrypted = try unsafe secret.open(sealed, label: label).withOctets { unsafe Array($0) }
        return Signer(key: try SigningKey(encryptedPKCS8: encrypted, passphrase: secret.passphrase(for: label)))
    }

    private struct Signer: JournalSigner {
        let key: SigningKey

        var publicKey: PublicKey { key.publicKey }

        func signature(for statement: JournalStatement) throws -> [UInt8] {
            try key.signature(over: statement.octets)
        }
    }
}
