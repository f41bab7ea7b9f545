package import Keys

/// Makes the key that signs the journal's marks, and seals it for the store; no credential uses this key.
package protocol AuditKeys: Sendable {
    /// Makes a key, and returns it sealed.
    func make() throws -> [UInt8]
    /// Opens a sealed key from ``make()``.
    func open(_ sealed: [UInt8]) throws -> any JournalSigner
}

/// The audit key, opened.
package protocol JournalSigner: Sendable {
    /// The public half, for ES256.
    var publicKey: PublicKey { get }
    /// Returns a DER ECDSA-Sig-Value over the statement's bytes; no other data can be signed.
    ///
    /// It runs inside a database transaction, so it must be quick.
    func signature(for statement: JournalStatement) throws -> [UInt8]
}
