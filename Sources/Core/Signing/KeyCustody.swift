package import Keys
package import Records

/// The custody of private keys, which makes keys and signs with them.
///
/// A key that the agent made is stored sealed in its enrollment's row. Any other key stays where its URI says.
package protocol KeyCustody: Sendable {
    /// Makes a key pair, and returns the private half sealed, for the store to keep.
    ///
    /// - Parameters:
    ///   - name: the enrollment. The sealed key does not open for another enrollment.
    ///   - pin: the only PIN that opens the key. `nil` for a key without a PIN.
    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey
    /// Opens a key that the agent made with one PIN, and seals it under another.
    ///
    /// - Returns: the same key, sealed under the new PIN. The old PIN stays valid until the store has this key.
    /// - Throws: `CustodyError`.
    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8]
    /// Opens the key of an enrollment for one decision.
    ///
    /// - Parameter pin: the PIN of a key that takes one. If one is given for any other key, the key is not opened.
    /// - Throws: `CustodyError`.
    func unlock(_ key: KeyReference, pin: PIN?) async throws -> any UnlockedKey
    /// Returns whether ``unlock(_:pin:)`` uses only memory, so that the caller need not be able to cancel it.
    func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool
    /// Checks that a key that the agent made can be opened, as far as that is possible without a PIN.
    func verify(_ key: KeyReference) async throws(CustodyError)
    /// Returns whether two sealed keys of an enrollment are one key under one PIN, sealed twice.
    ///
    /// `false` if one of them does not open.
    func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool
}

extension KeyCustody {
    package func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool { false }
    package func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool { one == other }
}

/// A key that is open for one decision.
///
/// It reports itself whether it verified the user, because no other part can know.
package protocol UnlockedKey: Sendable {
    /// Whether only the PIN that was given could open the key.
    var verifiesUser: Bool { get }
    /// The public half, as found with the private one.
    var publicKey: PublicKey { get }
    /// Proves that the key signs and that the public half verifies the signature.
    ///
    /// No relying party can mistake the signed bytes for an assertion.
    ///
    /// - Throws: `CustodyError` if the proof fails.
    func prove() throws
    /// Signs the bytes of a permit; other bytes cannot be signed.
    func signature(for permit: SigningPermit) async throws -> [UInt8]
    /// Whether it signs in memory, so that the caller need not be able to cancel it.
    var signsAtOnce: Bool { get }
}

extension UnlockedKey {
    package var signsAtOnce: Bool { false }
}
