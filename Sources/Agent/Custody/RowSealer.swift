package import Keys
import Records

/// Seals rows of the store under the agent's secret.
package struct RowSealer: RowSeals {
    private static let label = SealedUse.enrollmentRow.label

    private let secrets: SealingSecrets

    package init(_ secrets: SealingSecrets) { self.secrets = secrets }

    package init(secret: AgentSecret) { self.init(SealingSecrets(secret)) }

    package func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        try secrets.sealing.authenticator(of: bytes, label: Self.label)
    }

    package func isSeal(_ seal: [UInt8], of bytes: [UInt8]) throws -> Bool {
        try secrets.opening.contains { try $0.isAuthenticator(seal, of: bytes, label: Self.label) }
    }

    package func seal(rowKey key: DataKey) throws -> [UInt8] {
        try secrets.sealing.seal(key.secret, label: SealedUse.rowKey.label)
    }

    package func openRowKey(_ sealed: [UInt8]) throws -> DataKey {
        guard let key = DataKey(try secrets.open(sealed, label: SealedUse.rowKey.label)) else {
            throw SealError.malformed
        }
        return key
    }
}

/// Everything that lies under the agent's secret, each under a label of its own.
///
/// What is added here has to be brought along by ``SecretRewrapper`` when the secret changes.
enum SealedUse: Equatable {
    /// In the store, with its enrollment: the private half of its key.
    case credentialKey(EnrollmentID)
    /// In the store, with its enrollment.
    case accessToken(EnrollmentID)
    /// In the store, with its push subscription: the private key and the auth secret.
    case pushKey(EnrollmentID)
    /// In the store, with its enrollment: the key under which its requests are encrypted there.
    case dataKey(EnrollmentID)
    /// In the store, one for each chain of the journal.
    case auditKey
    /// Of a row in the store, all of which it vouches for; what is sealed says of which table it is.
    case enrollmentRow
    /// In the store: under which those rows stand in sums.
    case rowKey

    var label: String {
        switch self {
        case .credentialKey(let name): "credential key \(name.text)"
        case .accessToken(let name): "access token \(name.text)"
        case .pushKey(let name): "push key \(name.text)"
        case .dataKey(let name): "data key \(name.text)"
        case .auditKey: "audit key"
        case .enrollmentRow: "enrollment row"
        case .rowKey: "row key"
        }
    }
}
