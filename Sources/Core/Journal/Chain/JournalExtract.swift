package import Records

/// The entries about one request, with the audit key's signature that its journal has them.
///
/// The public half of the audit key is enough to verify it. The rest of the journal, which is about other requests, is
/// not needed.
package struct JournalExtract: Sendable {
    /// Maximum number of entries in one extract.
    ///
    /// A request has about six entries, and more only if its issuer repeats messages.
    package static let maxEntries = 1_000

    /// The lines of the entries, oldest first; empty if they were removed because of their age.
    package let rows: [JournalRow]
    /// `nil` if there are no entries, or if the journal fails verification.
    package let seal: Seal?
    /// The first entry of the journal that fails verification; later entries are not in ``rows``.
    package let fault: JournalError?

    /// The signed statement about the entries.
    package struct Seal: Sendable {
        /// Lines of text, as described at ``JournalStatement``.
        package let statement: [UInt8]
        /// A DER ECDSA-Sig-Value over ``statement``.
        package let signature: [UInt8]
    }
}
