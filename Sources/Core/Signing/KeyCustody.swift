package import Keys
package import Records

/// Makes private keys, and can use them.
///
/// A key of the agent's own is kept sealed in its enrollment's row; one that the agent did not make is where its URI says.
package protocol KeyCustody: Sendable {
    /// Makes a key pair; the private half, sealed, is for the store to keep.
    ///
    /// - Parameters:
    ///   - name: the enrollment; what is sealed opens for no other.
    ///   - pin: what the key is to be opened with, and with nothing else; nil: nothing of the user's.
    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey
    /// Opens a key of the agent's own with one PIN, and seals it under another.
    ///
    /// - Returns: the same key sealed anew, for the store to keep; until then the old PIN is the right one.
    /// - Throws: `CustodyError`.
    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8]
    /// Opens the key of an enrollment for one decision.
    ///
    /// - Parameter pin: for a key that takes one; given for any other, none is opened.
    /// - Throws: `CustodyError`.
    func unlock(_ key: KeyReference, pin: PIN?) async throws -> any UnlockedKey
    /// Whether ``unlock(_:pin:)`` needs nothing but memory, so that nothing has to cut it off.
    func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool
    /// Checks that a key of the agent's own could be opened, as far as that can be told without a PIN.
    func check(_ key: KeyReference) async throws(CustodyError)
    /// Whether two sealed keys of an enrollment are one key under one PIN, sealed twice; false if either does not open.
    func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool
}

extension KeyCustody {
    package func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool { false }
    package func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool { one == other }
}

/// A key that is open for one decision.
///
/// It says itself whether it verified the user: nobody else can know.
package protocol UnlockedKey: Sendable {
    /// Whether it could be opened only with the PIN that was given, and that was right.
    var verifiesUser: Bool { get }
    /// Its public half, as it was found with the private one.
    var publicKey: PublicKey { get }
    /// Proves that the key signs and that the public half verifies it.
    ///
    /// No relying party can take what is signed for an assertion.
    ///
    /// - Throws: `CustodyError` if it does not.
    func prove() throws
    /// Signs what a permit allows, and nothing else can be signed.
    func signature(for permit: SigningPermit) async throws -> [UInt8]
    /// Whether it signs in memory, so that nothing has to cut it off.
    var signsAtOnce: Bool { get }
}

extension UnlockedKey {
    package var signsAtOnce: Bool { false }
}
