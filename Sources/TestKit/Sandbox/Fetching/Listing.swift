import GRDB
import IssuerProtocol

/// A request or a cancellation that an authenticator can fetch.
struct ListingRecord: StoredRecord {
    static let databaseTableName = "listing"

    /// The sequence number, or `nil` before the row is inserted.
    var seq: Int64?
    let authenticatorId: String
    let jti: String
    let jws: String
    let exp: Int64
}

/// The listed messages at one moment, and the cursors into them.
struct Listing {
    struct Entry {
        let sequence: Int64
        let jws: String
    }

    private let db: Database
    private let epoch: String
    private let now: Int64
    /// The greatest sequence number ever assigned, which sqlite_sequence keeps when rows are deleted.
    private let greatest: Int64

    init(_ db: Database, of backend: IssuerBackend) throws {
        self.db = db
        epoch = backend.store.epoch
        now = backend.now
        greatest = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'listing'") ?? 0
    }

    /// Returns the entries after a sequence number, or all; oldest first, up to the limit of one answer.
    func entries(of authenticatorId: String, after: Int64?) throws -> [Entry] {
        try ListingRecord.rows(
            db, "WHERE authenticatorId = ? AND seq > ? AND exp > ? ORDER BY seq LIMIT ?",
            [authenticatorId, after ?? 0, now, RequestList.limit]
        ).map { Entry(sequence: $0.seq ?? 0, jws: $0.jws) }
    }

    /// Returns a list of the entries, with the cursor for later ones.
    func list(_ entries: [Entry]) -> RequestList {
        RequestList(requests: entries.map(\.jws), cursor: "\(epoch).\(entries.last?.sequence ?? greatest)")
    }

    /// Returns the same cursor or an earlier one; successive numbers go through all of them in turn.
    static func cursor(beside cursor: String, number: Int) -> String {
        let parts = cursor.split(separator: ".")
        guard parts.count == 2, let sequence = Int(parts[1]), sequence > 0 else { return cursor }
        return "\(parts[0]).\(number % (sequence + 1))"
    }

    /// Returns the sequence number of a cursor.
    ///
    /// Returns `nil` for a cursor of another database, or a cursor that was never given out.
    func sequence(of cursor: String) -> Int64? {
        let parts = cursor.utf8.count <= 256 ? cursor.split(separator: ".", omittingEmptySubsequences: false) : []
        guard parts.count == 2, parts[0].utf8.elementsEqual(epoch.utf8), let sequence = Int64(parts[1]),
            (0...greatest).contains(sequence), String(sequence).utf8.elementsEqual(parts[1].utf8)
        else { return nil }
        return sequence
    }
}
