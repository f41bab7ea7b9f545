package import Authenticator
package import Keys

/// Brings what lies under the agent's previous secret under the present one.
package struct SecretRewrapper: Rewrapper {
    private let custody: KeyFileCustody
    private let change: SecretChange

    /// - Parameter custody: where the key files are.
    package init(_ custody: KeyFileCustody, by change: SecretChange) {
        self.custody = custody
        self.change = change
    }

    package func token(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try change.resealed(sealed, label: SealedUse.accessToken(name).label)
    }

    package func pushKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try change.resealed(sealed, label: SealedUse.pushKey(name).label)
    }

    package func dataKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try change.resealed(sealed, label: SealedUse.dataKey(name).label)
    }

    package func key(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try change.resealedKey(sealed, label: SealedUse.credentialKey(name).label)
    }

    package func auditKey(_ sealed: [UInt8]) throws -> [UInt8]? {
        try change.resealedKey(sealed, label: SealedUse.auditKey.label)
    }

    package func isDue(keyOf name: EnrollmentID) throws -> Bool { try rewrapped(name) != nil }

    package func rewrap(keyOf name: EnrollmentID) throws {
        if let bytes = try rewrapped(name) { try KeyFile.replace(bytes, at: custody.path(of: name)) }
    }

    private func rewrapped(_ name: EnrollmentID) throws(KeyFileError) -> [UInt8]? {
        try KeyFile.rewrapped(
            path: custody.path(of: name), label: SealedUse.credentialKey(name).label, by: change)
    }
}
