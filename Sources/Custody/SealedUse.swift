import Authenticator

/// Everything that lies under the agent's secret, each under a label of its own.
///
/// What is added here has to be brought along by ``SecretRewrapper`` when the secret changes.
enum SealedUse: Equatable {
    /// A key file.
    case credentialKey(EnrollmentID)
    /// In the store, with its enrollment.
    case accessToken(EnrollmentID)
    /// In the store, with its push subscription: the private key and the auth secret.
    case pushKey(EnrollmentID)
    /// In the store; there is one. Made before enrollment rows had seals, which may be missing beside it.
    case auditKey
    /// The same, of a store whose enrollment rows all have seals.
    case auditKeyOfSealedRows
    /// Of a row in the store, all of which it vouches for.
    case enrollmentRow

    var label: String {
        switch self {
        case .credentialKey(let name): "credential key \(name.text)"
        case .accessToken(let name): "access token \(name.text)"
        case .pushKey(let name): "push key \(name.text)"
        case .auditKey: "audit key"
        case .auditKeyOfSealedRows: "audit key of sealed rows"
        case .enrollmentRow: "enrollment row"
        }
    }
}
