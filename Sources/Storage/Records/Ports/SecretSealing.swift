package import IssuerProtocol
package import Keys

/// Encrypts secrets for the store; a secret of one enrollment cannot be opened for another.
package protocol SecretSealing: Sendable {
    /// Encrypts an access token for the store.
    func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8]
    /// Opens a token that ``seal(_:for:)`` encrypted for the same enrollment.
    func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken
    /// Encrypts the private key and the auth secret of a push subscription for the store.
    func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8]
    /// Opens the secrets of a push subscription that were encrypted for the same enrollment.
    func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey
}
