package import Keys
package import Records

/// Seals the data keys of enrollments under the agent's secret.
package struct DataKeySealer: DataKeySeals {
    private let secrets: SealingSecrets

    package init(_ secrets: SealingSecrets) { self.secrets = secrets }

    package init(secret: AgentSecret) { self.init(SealingSecrets(secret)) }

    package func seal(_ key: DataKey, of id: EnrollmentID) throws -> [UInt8] {
        try secrets.sealing.seal(key.secret, label: SealedUse.dataKey(id).label)
    }

    package func open(_ sealed: [UInt8], of id: EnrollmentID) throws -> DataKey {
        guard let key = DataKey(try secrets.open(sealed, label: SealedUse.dataKey(id).label)) else {
            throw SealError.malformed
        }
        return key
    }
}
