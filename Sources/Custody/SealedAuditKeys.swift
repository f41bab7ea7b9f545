package import Authenticator
package import Keys

/// The audit key under the agent's secret: the one file from which the journal's marks are signed.
package struct SealedAuditKeys: AuditKeys {
    private let secret: AgentSecret
    private let previous: AgentSecret?

    /// - Parameter previous: the secret that the key may still be under, while the agent's secret changes.
    package init(secret: AgentSecret, previous: AgentSecret? = nil) {
        self.secret = secret
        self.previous = previous
    }

    /// Sealed as the key in a key file is.
    package func make() throws -> [UInt8] {
        try secret.seal(SigningKey.generate(.es256), label: SealedUse.auditKeyOfSealedRows.label)
    }

    package func open(_ sealed: [UInt8]) throws -> any JournalSigner { try opened(sealed).signer }

    /// Whether it is under the previous secret.
    package func isUnderPrevious(_ sealed: [UInt8]) throws -> Bool { try opened(sealed).secret != secret }

    package func vouchingForRows(_ sealed: [UInt8]) throws -> [UInt8]? {
        let (signer, secret) = try opened(sealed)
        // Under the same secret as before: whoever changes that looks at the audit key last.
        return signer.vouchesForRows ? nil : try secret.seal(signer.key, label: SealedUse.auditKeyOfSealedRows.label)
    }

    private func opened(_ sealed: [UInt8]) throws -> (signer: Signer, secret: AgentSecret) {
        for secret in [secret, previous].compactMap(\.self) {
            for use in [SealedUse.auditKeyOfSealedRows, .auditKey] {
                do {
                    return (try Self.unseal(sealed, as: use, under: secret), secret)
                } catch SealError.notSealedByThisSecret {
                    // The next may be the one.
                }
            }
        }
        throw SealError.notSealedByThisSecret
    }

    private static func unseal(_ sealed: [UInt8], as use: SealedUse, under secret: AgentSecret) throws -> Signer {
        guard let key = try secret.openKey(sealed, label: use.label) else { throw SealError.malformed }
        return Signer(key: key, vouchesForRows: use == .auditKeyOfSealedRows)
    }

    private struct Signer: JournalSigner {
        let key: SigningKey
        let vouchesForRows: Bool

        var publicKey: PublicKey { key.publicKey }

        func signature(for statement: JournalStatement) throws -> [UInt8] {
            try key.signature(over: statement.bytes)
        }
    }
}
