/// The flags of authenticator data (WebAuthn Level 3 §6.1); bits 1 and 5 are reserved and kept as they come.
package struct AuthenticatorFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// UP: a test of user presence succeeded.
    package static let userPresent = AuthenticatorFlags(rawValue: 0x01)
    /// UV: the user was verified.
    package static let userVerified = AuthenticatorFlags(rawValue: 0x04)
    /// BE: the credential may be backed up.
    package static let backupEligible = AuthenticatorFlags(rawValue: 0x08)
    /// BS: the credential is backed up.
    package static let backupState = AuthenticatorFlags(rawValue: 0x10)
    /// AT: attested credential data follows.
    package static let attestedCredentialData = AuthenticatorFlags(rawValue: 0x40)
    /// ED: extension data follows.
    package static let extensionData = AuthenticatorFlags(rawValue: 0x80)
}
