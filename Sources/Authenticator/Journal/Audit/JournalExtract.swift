import Keys

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

extension Journal {
    /// The entries about one request.
    ///
    /// They are proved first, each by the checkpoint behind it and all by the head: otherwise whoever can write the file
    /// could have the audit key sign what the agent never wrote. If that cannot be, such as in a journal that has no
    /// checkpoints yet, the whole of it is held against its head. So it is if there are several hosts: what each has done
    /// about the request is in its own chain.
    package func extract(about request: RequestID) async throws -> JournalExtract {
        let isAlone = try await store.read { try $0.otherHosts().isEmpty }
        if isAlone, let found = try await JournalLookUp(store: store, request: request).find() {
            return JournalExtract(
                rows: found.rows, seal: try await seal(of: found.rows, head: found.head.point), fault: nil)
        }
        let verdict = try await JournalAudit(store: store, request: request).run()
        let rows = verdict.found.map(\.row)
        guard verdict.fault == nil, let head = verdict.head else {
            return JournalExtract(rows: rows, seal: nil, fault: verdict.fault)
        }
        return JournalExtract(rows: rows, seal: try await seal(of: rows, head: head.point), fault: nil)
    }

    private func seal(of rows: [JournalRow], head: JournalPoint) async throws -> JournalExtract.Seal? {
        guard !rows.isEmpty else { return nil }
        return try await store.seal(
            try rows.map { JournalPoint(sequence: $0.sequence, digest: try SHA256Digest.of($0.bytes)) }, head: head)
    }
}
