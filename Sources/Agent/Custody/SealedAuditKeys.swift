package import Keys
package import Records

/// The audit keys, sealed under the agent's secret; no other file signs the journal's marks.
package struct SealedAuditKeys: AuditKeys {
    private let secrets: SealingSecrets

    package init(_ secrets: SealingSecrets) { self.secrets = secrets }

    package init(secret: AgentSecret) { self.init(SealingSecrets(secret)) }

    /// Makes an audit key; it is sealed as an enrollment's key is.
    package func make() throws -> [UInt8] {
        try secrets.sealing.seal(SigningKey.generate(.es256), label: SealedUse.auditKey.label)
    }

    package func open(_ sealed: [UInt8]) throws -> any JournalSigner { try opened(sealed).signer }

    /// Whether the key is sealed under the previous secret.
    package func isUnderPrevious(_ sealed: [UInt8]) throws -> Bool { try !secrets.isPresent(opened(sealed).secret) }

    private func opened(_ sealed: [UInt8]) throws -> (signer: Signer, secret: AgentSecret) {
        for secret in secrets.opening {
            do {
                return (try Self.unseal(sealed, under: secret), secret)
            } catch SealError.notSealedByThisSecret {
                // Try the next secret.
            }
        }
        throw SealError.notSealedByThisSecret
    }

    private static func unseal(_ sealed: [UInt8], under secret: AgentSecret) throws -> Signer {
        do throws(SealedKeyError) {
            return Signer(key: try secret.openKey(sealed, label: SealedUse.auditKey.label))
        } catch .seal(let cause) {
            throw cause
        } catch {
            throw SealError.malformed
        }
    }

    private struct Signer: JournalSigner {
        let key: SigningKey

        var publicKey: PublicKey { key.publicKey }

        func signature(for statement: JournalStatement) throws -> [UInt8] {
            try key.signature(over: statement.bytes)
        }
    }
}
