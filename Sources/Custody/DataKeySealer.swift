package import Authenticator
package import Keys

/// Seals the data keys of enrollments under the agent's secret.
package struct DataKeySealer: DataKeySeals {
    private let secret: AgentSecret
    private let previous: AgentSecret?

    /// - Parameter previous: the secret that keys may still be sealed under, while the agent's secret changes.
    package init(secret: AgentSecret, previous: AgentSecret? = nil) {
        self.secret = secret
        self.previous = previous
    }

    package func seal(_ key: DataKey, of id: EnrollmentID) throws -> [UInt8] {
        try secret.seal(key.secret, label: SealedUse.dataKey(id).label)
    }

    package func open(_ sealed: [UInt8], of id: EnrollmentID) throws -> DataKey {
        let label = SealedUse.dataKey(id).label
        guard let key = DataKey(try secret.open(sealed, orUnder: previous, label: label)) else {
            throw SealError.malformed
        }
        return key
    }
}

extension AgentSecret {
    /// Opens a value that is sealed under this secret, or still under the previous one while the agent's secret changes.
    func open(_ sealed: [UInt8], orUnder previous: AgentSecret?, label: String) throws(SealError) -> Secret {
        do throws(SealError) {
            return try open(sealed, label: label)
        } catch .notSealedByThisSecret {
            guard let previous else { throw .notSealedByThisSecret }
            return try previous.open(sealed, label: label)
        }
    }
}
