import Keys
package import Records
import StoreTables

extension JournalReader {
    /// Returns the entries about one request, with a seal if they can be proved.
    ///
    /// The entries are proved before they are sealed: each by the checkpoint behind it, and all by the head. Otherwise,
    /// an attacker who can write the database file could make the audit key sign entries that the agent never wrote. If
    /// this proof is not possible, such as in a journal without checkpoints yet, the whole journal is verified against
    /// its head. The same is done if there are several hosts, because each host records its part of the request in its
    /// own chain.
    package func extract(about request: RequestID) async throws -> JournalExtract {
        let isAlone = try await store.read { try $0.otherHosts().isEmpty }
        if isAlone, let found = try await JournalLookUp(store: store, request: request).find() {
            return JournalExtract(
                rows: found.rows, seal: try await seal(of: found.rows, head: found.head.point), fault: nil)
        }
        let verdict = try await JournalAudit(store: store, request: request).verify()
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
