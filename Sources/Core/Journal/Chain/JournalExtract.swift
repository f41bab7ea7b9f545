package import Records

/// The entries about one request, and the audit key's word that its journal has them.
///
/// It stands by itself: whoever has the audit key's public half can check it without the rest of the journal, which is
/// about others.
package struct JournalExtract: Sendable {
    /// The most entries that one has; a request has about six, and more only if its issuer repeats itself.
    package static let maxEntries = 1_000

    /// Their lines, oldest first; empty if they were removed for their age.
    package let rows: [JournalRow]
    /// Nil if there are no entries, or the journal is not whole.
    package let seal: Seal?
    /// The first entry of the journal that is not as it was written; entries after it are not among the rows.
    package let fault: JournalError?

    /// What the audit key has signed about the entries.
    package struct Seal: Sendable {
        /// Lines of text; see ``JournalStatement``.
        package let statement: [UInt8]
        /// A DER ECDSA-Sig-Value over it.
        package let signature: [UInt8]
    }
}
