/// The facts about a key behind a URI.
package struct ExternalKeyFacts: Sendable, Equatable {
    /// The kind of storage that contains the key.
    package enum Kind: String, Sendable { case file, pkcs11, tpm }

    package let kind: Kind
    package let publicKey: PublicKey
    /// Whether the private key can leave its storage, or `nil` if that is unknown.
    package let isExportable: Bool?

    package init(kind: Kind, publicKey: PublicKey, isExportable: Bool?) {
        self.kind = kind
        self.publicKey = publicKey
        self.isExportable = isExportable
    }
}
