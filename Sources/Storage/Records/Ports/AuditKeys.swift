package import Keys

/// Who makes the key that signs the journal's marks, and seals it for the store; it is no credential's key.
package protocol AuditKeys: Sendable {
    /// A new key, sealed.
    func make() throws -> [UInt8]
    /// Opens what ``make()`` gave.
    func open(_ sealed: [UInt8]) throws -> any JournalSigner
}

/// The audit key, opened.
package protocol JournalSigner: Sendable {
    /// ES256.
    var publicKey: PublicKey { get }
    /// A DER ECDSA-Sig-Value over the statement's bytes; nothing else can be signed.
    ///
    /// It is made inside a database transaction, so it must be quick.
    func signature(for statement: JournalStatement) throws -> [UInt8]
}
