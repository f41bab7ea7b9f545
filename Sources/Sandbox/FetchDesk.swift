import GRDB
import IssuerProtocol
import StrictJSON

/// Hands out the requests of an authenticator.
struct FetchDesk: Sendable {
    private static let most = 100

    let backend: IssuerBackend

    func fetch(_ incoming: Incoming) async throws -> Answer {
        let wait = try incoming.wait()
        let authenticator = try await backend.authenticated(incoming)
        guard let after = incoming.query("after") else {
            return .json(200, try await list(authenticator.id, after: 0).json)
        }
        let cursor = try await sequence(of: after)
        let news = try await backend.bell.firstValue(about: .authenticator(authenticator.id), within: wait) {
            // The token may have ended while the call waited.
            _ = try await backend.authenticated(incoming)
            let list = try await list(authenticator.id, after: cursor)
            return list.requests.isEmpty ? nil : list
        }
        return .json(200, (news ?? RequestList(requests: [], cursor: after)).json)
    }

    private func list(_ authenticatorId: String, after: Int64) async throws -> RequestList {
        let now = backend.now
        let epoch = backend.book.epoch
        return try await backend.book.queue.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT seq, jws FROM listing WHERE authenticatorId = ? AND seq > ? AND exp > ?
                    ORDER BY seq LIMIT ?
                    """,
                arguments: [authenticatorId, after, now, Self.most])
            let last: Int64 = try rows.last?["seq"] ?? max(after, Self.greatestSequence(db))
            return RequestList(requests: rows.map { $0["jws"] }, cursor: "\(epoch).\(last)")
        }
    }

    /// What the cursor stands for; one of another database, or that was never given out, is unknown.
    private func sequence(of cursor: String) async throws -> Int64 {
        let parts = cursor.utf8.count <= 256 ? cursor.split(separator: ".", omittingEmptySubsequences: false) : []
        let greatest = try await backend.book.queue.read { db in try Self.greatestSequence(db) }
        guard parts.count == 2, parts[0].utf8.elementsEqual(backend.book.epoch.utf8), let sequence = Int64(parts[1]),
            (0...greatest).contains(sequence), String(sequence).utf8.elementsEqual(parts[1].utf8)
        else { throw SandboxRefusal.listed(.unknownCursor, "the cursor is unknown: fetch without one") }
        return sequence
    }

    /// SQLite's own record of the greatest number that was ever given, also after rows are gone.
    private static func greatestSequence(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'listing'") ?? 0
    }
}
