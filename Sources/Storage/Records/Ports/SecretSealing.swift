package import IssuerProtocol
package import Keys

/// Encrypts what must not be in clear in the store; what was sealed for one enrollment opens for no other.
package protocol SecretSealing: Sendable {
    /// Encrypts an access token for the store.
    func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8]
    /// Opens what ``seal(_:for:)`` made for the same enrollment.
    func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken
    /// Encrypts the private key and the auth secret of a push subscription for the store.
    func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8]
    /// Opens what was sealed so for the same enrollment.
    func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey
}
