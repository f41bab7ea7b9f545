import GRDB
import Keys
import SQLiteStore
import TableRows

/// The SHA-256 of all rows of a database.
///
/// It does not depend on the layout of the file. It covers all tables of `sqlite_schema`, in the order of their names'
/// bytes. For each table: the byte `T` and the name, encoded as a text. For each row of it: the byte `R` and the values
/// of the columns, in the columns' order. Rows are in the order of the primary key, or of all columns if there is none.
///
/// A value is encoded as one byte for its type (0 null, 1 integer, 2 text, 3 blob), its length in bytes as 8 bytes
/// big-endian, and its content. An integer is 8 bytes, big-endian in two's complement. A text is UTF-8. Null is empty.
/// Indexes are not hashed, nor is the row of the table `manifest` that contains the digest.
struct RowDigest: ~Copyable {
    /// The number of bytes that are hashed at once.
    private static let pieceSize = 65_536

    private let digest: RunningSHA256
    private var waiting: [UInt8] = []

    /// - Throws: `DatabaseError`, or ``UnknownValueError`` if a value has a type that no column of the agent has.
    static func hexadecimal(of database: Database) throws -> String {
        var rows = try RowDigest()
        let names = try database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0[0] }
        for case .text(let name)? in names {
            // A cancellation between two statements interrupts none of them.
            try Task.checkCancellation()
            try rows.add([UInt8(ascii: "T")] + ColumnValue.text(name).unmistakableBytes)
            try rows.addRows(of: name, in: database)
        }
        try rows.digest.update(rows.waiting)
        return try Manifest.hexadecimal(rows.digest.digest())
    }

    private init() throws { digest = try RunningSHA256() }

    private mutating func addRows(of table: String, in database: Database) throws {
        let columns = try database.rows("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid", [table]) { row in
            guard case .text(let name) = row[0], case .number(let place) = row[1] else { throw UnknownValueError() }
            return (name: name.quotedDatabaseIdentifier, keyPlace: place)
        }
        let key = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
        let order = (key.isEmpty ? columns : key).map(\.name).joined(separator: ", ")
        // Reading a text replaces bytes that are not UTF-8. Reading it as a blob keeps them.
        let utf8 = columns.map { "CASE typeof(\($0.name)) WHEN 'text' THEN CAST(\($0.name) AS BLOB) END" }
        let names = (columns.map(\.name) + utf8).joined(separator: ", ")
        let others = table == Manifest.table ? " WHERE name <> '\(Manifest.digestName)'" : ""
        let sql = "SELECT \(names) FROM \(table.quotedDatabaseIdentifier)\(others) ORDER BY \(order)"
        try database.step(sql, [], atMost: .max) { row in
            var bytes = [UInt8(ascii: "R")]
            for index in columns.indices {
                guard let value = row[index] else { throw UnknownValueError() }
                guard case .text = value else {
                    bytes += value.unmistakableBytes
                    continue
                }
                guard let utf8 = row[columns.count + index] else { throw UnknownValueError() }
                bytes += ColumnValue.text("").unmistakableBytes.prefix(1) + utf8.unmistakableBytes.dropFirst()
            }
            try add(bytes)
        }
    }

    private mutating func add(_ bytes: [UInt8]) throws {
        waiting += bytes
        guard waiting.count >= Self.pieceSize else { return }
        try digest.update(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
}

/// A value has a type that no column of the agent has.
struct UnknownValueError: Error, CustomStringConvertible {
    let description = "a value is of a type that no column of the agent's has"
}
