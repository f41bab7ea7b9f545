import Keys
package import Records
import StoreTables

extension JournalReader {
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
