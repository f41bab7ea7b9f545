import GRDB
import SQLiteStore
import TableRows
import TextAndTime

/// The table `manifest` of a backup, which describes the backup and has the digest of its rows.
///
/// The agent's own database never has this table.
package struct Manifest: Sendable, Equatable {
    static let table = SQLiteDatabase.backupTable
    static let digestName = "digest"
    /// The form of a backup.
    ///
    /// A newer version may have another one.
    private static let form = "1"
    private static let creation =
        "CREATE TABLE manifest (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"

    /// The version of the agent that made the backup.
    package let version: String
    /// The time of the copy, RFC 3339, UTC.
    package let createdAt: String
    /// The number of the journal's newest entry, or `nil` if the journal is empty.
    package let journal: Int64?
    /// The ``RowDigest`` in hexadecimal.
    package let digest: String

    enum Fault: Error, Equatable {
        case missing
        case unreadable
        /// The form of the backup is not the form of this version.
        case otherForm(String)
    }

    /// Adds the table to a copy that already has all other rows.
    static func write(into copy: Database, version: String, takenAt time: Int64) throws {
        try copy.execute(sql: creation)
        let journal = try Row.fetchOne(
            copy, sql: "SELECT seq, lower(hex(digest)) AS digest FROM journal_mark WHERE name = 'head'")
        var members = [("form", form), ("version", version), ("created_at", UTCTime.text(time))]
        if let journal {
            members += [("journal_seq", "\(journal["seq"] as Int64)"), ("journal_digest", journal["digest"])]
        }
        let insertion = "INSERT INTO manifest (name, value) VALUES (?, ?)"
        for (name, value) in members { try copy.execute(sql: insertion, arguments: [name, value]) }
        try copy.execute(sql: insertion, arguments: [digestName, try RowDigest.hexadecimal(of: copy)])
    }

    /// Reads the manifest of an untrusted backup.
    init(of backup: Database) throws {
        let objects = try SchemaObjects(of: backup)
        guard objects.hasTable(Self.table) else { throw Fault.missing }
        guard objects.hasTable(Self.table, madeBy: Self.creation) else { throw Fault.unreadable }
        var members: [String: String] = [:]
        try backup.step("SELECT name, substr(value, 1, 65) FROM manifest LIMIT 16", [], atMost: 16) { row in
            guard case .text(let name) = row[0], case .text(let value) = row[1] else { throw Fault.unreadable }
            members[name] = value
        }
        let form = try Self.plain(members["form"], 1...16)
        guard form == Self.form else { throw Fault.otherForm(form) }
        version = try Self.plain(members["version"], 1...64)
        createdAt = try Self.plain(members["created_at"], 20...20)
        journal = members["journal_seq"].flatMap(Int64.init)
        digest = try Self.plain(members[Self.digestName], 64...64)
    }

    /// Accepts only printable ASCII, because the agent prints these values of an untrusted backup.
    private static func plain(_ text: String?, _ count: ClosedRange<Int>) throws(Fault) -> String {
        guard let text, count.contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .unreadable
        }
        return text
    }

    /// Drops the table, which turns a backup into a state.
    static func remove(from backup: Database) throws { try backup.execute(sql: "DROP TABLE manifest") }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
