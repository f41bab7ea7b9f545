package import Keys
package import Records

/// Seals values of the agent's previous secret again under the present one.
package struct SecretRewrapper: Rewrapper {
    private let change: SecretChange

    package init(by change: SecretChange) { self.change = change }

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

    package func rowKey(_ sealed: [UInt8]) throws -> [UInt8]? {
        try change.resealed(sealed, label: SealedUse.rowKey.label)
    }

    package func auditKey(_ sealed: [UInt8]) throws -> [UInt8]? {
        try change.resealedKey(sealed, label: SealedUse.auditKey.label)
    }
}
