import GRDB
import SQLiteStore
import StoreTables
import TableRows

/// The tables, indexes, triggers and views of a database, each with its SQL from `sqlite_schema`.
struct SchemaObjects {
    private struct Name: Hashable, Comparable {
        let kind: String
        let name: String

        static func < (left: Name, right: Name) -> Bool { (left.kind, left.name) < (right.kind, right.name) }
    }

    private let objects: [Name: String]

    /// The schema that this version creates.
    static func ofThisVersion() throws -> SchemaObjects {
        let queue = try DatabaseQueue()
        defer { try? queue.close() }
        return try queue.write { database in
            for statement in StoreSchema.statements(for: .sqlite) { try database.execute(sql: statement) }
            return try SchemaObjects(of: database)
        }
    }

    /// - Throws: `DatabaseError`, or ``UnknownValueError`` if `sqlite_schema` has rows that SQLite does not write.
    init(of database: Database) throws {
        var objects: [Name: String] = [:]
        let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"
        try database.step(sql, [], atMost: .max) { row in
            guard case .text(let kind) = row[0], case .text(let name) = row[1], case .text(let table) = row[2],
                case .text(let sql) = row[3]
            else { throw UnknownValueError() }
            // Joins objects of the same name, so that neither equals the agent's.
            objects[Name(kind: kind, name: name), default: ""] += "\(table)\n\(sql)"
        }
        self.objects = objects
    }

    private init(_ objects: [Name: String]) { self.objects = objects }

    /// A copy without a table.
    func without(table name: String) -> SchemaObjects {
        SchemaObjects(objects.filter { $0.key != Name(kind: "table", name: name) })
    }

    func hasTable(_ name: String) -> Bool { objects[Name(kind: "table", name: name)] != nil }

    /// Whether this table exists and was created by this SQL.
    func hasTable(_ name: String, madeBy sql: String) -> Bool {
        objects[Name(kind: "table", name: name)] == "\(name)\n\(sql)"
    }

    /// The differences from another schema, each in a few words, at most ``limit``.
    func differences(from other: SchemaObjects) -> [String] {
        let names = Set(objects.keys).union(other.objects.keys).filter { objects[$0] != other.objects[$0] }
        return names.sorted().prefix(Self.limit).map { name in
            let words = "\(name.kind) \(name.name)".printable
            if other.objects[name] == nil { return "\(words) is not the agent's" }
            return objects[name] == nil ? "\(words) is missing" : "\(words) is not as the agent makes it"
        }
    }

    /// The most differences that are listed.
    private static let limit = 5
}

extension String {
    /// The text with at most 80 characters of printable ASCII, so that untrusted text can be shown.
    var printable: String {
        String(
            unicodeScalars.prefix(80).map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" })
    }
}
