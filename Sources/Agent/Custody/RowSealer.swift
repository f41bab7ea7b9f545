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

/// Each kind of data sealed under the agent's secret, with a label of its own.
///
/// A kind that is added here must also be added to ``SecretRewrapper``, which seals it again when the secret changes.
enum SealedUse: Equatable {
    /// The private half of an enrollment's key, in the enrollment's row.
    case credentialKey(EnrollmentID)
    /// The access token, in the enrollment's row.
    case accessToken(EnrollmentID)
    /// The private key and the auth secret of a push subscription, in its row.
    case pushKey(EnrollmentID)
    /// The key that encrypts an enrollment's requests in the store, in the enrollment's row.
    case dataKey(EnrollmentID)
    /// The audit key of a chain of the journal.
    case auditKey
    /// The MAC of a whole row; the sealed bytes name the table.
    case enrollmentRow
    /// The key for sums over such rows, in the store.
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
