import Keys
package import Records
import TableRows

/// The column of an enrollment's data key, sealed; a statement gives it after the columns of the tables that it reads.
package enum DataKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("data_key", naming: .snakeCase)

    case sealed
}

/// The data keys that one database transaction has seen.
///
/// None outlives it, so that nobody reads or writes under a key that the database has no more.
final class SeenDataKeys {
    /// The most that are known at once.
    private static let limit = 512

    private var sealed: [EnrollmentID: [UInt8]] = [:]
    private var opened: [EnrollmentID: (sealed: [UInt8], key: DataKey)] = [:]

    subscript(id: EnrollmentID) -> [UInt8]? { sealed[id] }

    func take(_ key: [UInt8]?, of id: EnrollmentID) {
        if sealed.count >= Self.limit, sealed[id] == nil { sealed = [:] }
        sealed[id] = key
    }

    func forget(_ id: EnrollmentID) {
        sealed[id] = nil
        opened[id] = nil
    }

    func key(_ sealed: [UInt8], of id: EnrollmentID, by seals: any DataKeySeals) throws -> DataKey {
        if let known = opened[id], known.sealed == sealed { return known.key }
        guard let key = try? seals.open(sealed, of: id) else { throw DataKeyColumn.table.unreadable(.sealed) }
        if opened.count >= Self.limit { opened = [:] }
        opened[id] = (sealed, key)
        return key
    }
}

extension StoreReading {
    /// The data key of the enrollment that a column names, for a list of columns that it ends.
    static func dataKey(of enrollment: String) -> String {
        "(SELECT sealed FROM data_key WHERE data_key.enrollment_id = \(enrollment))"
    }

    /// What reads and writes the personal values of a row.
    ///
    /// - Parameters:
    ///   - row: what the row is known by in its table.
    ///   - fields: the data key, which the statement gave that gave the row.
    func cipher<Column>(
        _ table: TableLayout<Column>, row: String, of id: EnrollmentID, _ fields: Fields<DataKeyColumn>
    ) throws -> RowCipher {
        let sealed = try fields.optionalBytes(.sealed)
        dataKeys.take(sealed, of: id)
        return cipher(table.name, row: row, of: id, sealed)
    }

    /// The same of a row that is to be written; asks for the data key if it was not seen yet.
    func cipher<Column>(_ table: TableLayout<Column>, row: String, of id: EnrollmentID) throws -> RowCipher {
        try cipher(table.name, row: row, of: id)
    }

    func cipher(_ table: String, row: String, of id: EnrollmentID) throws -> RowCipher {
        if dataKeys[id] == nil { dataKeys.take(try keptDataKey(of: id)?.sealed, of: id) }
        return cipher(table, row: row, of: id, dataKeys[id])
    }

    private func cipher(_ table: String, row: String, of id: EnrollmentID, _ sealed: [UInt8]?) -> RowCipher {
        let (dataKeys, seals) = (dataKeys, sealing.dataKeys)
        return RowCipher(place: "\(table) \(id.text) \(row)") {
            guard let sealed else { throw DataKeyColumn.table.unreadable(.sealed) }
            return try dataKeys.key(sealed, of: id, by: seals)
        }
    }

    fileprivate func keptDataKey(of id: EnrollmentID) throws -> (slot: Int64, sealed: [UInt8])? {
        try database.rows("SELECT slot, sealed FROM data_key WHERE enrollment_id = ?", [id.text]) {
            row -> (slot: Int64, sealed: [UInt8]) in
            guard case .number(let slot) = row[0], case .bytes(let sealed) = row[1] else {
                throw DataKeyColumn.table.unreadable(.sealed)
            }
            return (slot, sealed)
        }.first
    }

    /// The sealed data keys of the enrollments whose id comes after one, nil for all, by their ids: at most `limit`.
    ///
    /// Also of those that are over; none if the store has no data keys.
    package func dataKeys(after id: EnrollmentID?, limit: Int) throws -> [SealedDataKey] {
        try database.rows(
            """
            SELECT enrollment_id, sealed FROM data_key WHERE enrollment_id > ? AND enrollment_id < ?
            ORDER BY enrollment_id LIMIT ?
            """,
            [id?.text ?? "", FreeSlot.prefix, limit], as: sealedDataKey)
    }

    /// Looks at the data keys of enrollments together, before their rows are written.
    func seeDataKeys(of ids: Set<EnrollmentID>) throws {
        let unseen = ids.filter { dataKeys[$0] == nil }
        guard !unseen.isEmpty else { return }
        let sql = """
            SELECT enrollment_id, sealed FROM data_key WHERE enrollment_id IN (\(database.dialect.elements("?")))
            """
        for key in try database.rows(sql, [Self.json(unseen)], as: sealedDataKey) {
            dataKeys.take(key.sealed, of: key.enrollmentId)
        }
    }

    private func sealedDataKey(_ row: any StatementRow) throws -> SealedDataKey {
        guard case .text(let text) = row[0], let id = EnrollmentID(text), case .bytes(let sealed) = row[1] else {
            throw DataKeyColumn.table.unreadable(.sealed)
        }
        return SealedDataKey(enrollmentId: id, sealed: sealed)
    }
}

extension StoreTransaction {
    /// Makes the data key of a new enrollment.
    func insertDataKey(of id: EnrollmentID) throws {
        // On PostgreSQL a row that is written anew has another place, and other hosts look for one at the same time.
        guard !sealing.isShared, let slot = try freeSlot() else { return try addDataKey(of: id) }
        let sealed = try sealing.dataKeys.seal(DataKey.generate(), of: id)
        try database.run("UPDATE data_key SET enrollment_id = ?, sealed = ? WHERE slot = ?", [id.text, sealed, slot])
        dataKeys.take(sealed, of: id)
    }

    /// The place of a key that was destroyed.
    private func freeSlot() throws -> Int64? {
        try database.number(
            "SELECT slot FROM data_key WHERE enrollment_id >= ? ORDER BY enrollment_id LIMIT 1", [FreeSlot.prefix])
    }

    /// Makes the data key of an enrollment behind all others.
    func addDataKey(of id: EnrollmentID) throws {
        let sealed = try sealing.dataKeys.seal(DataKey.generate(), of: id)
        try database.run("INSERT INTO data_key (enrollment_id, sealed) VALUES (?, ?)", [id.text, sealed])
        dataKeys.take(sealed, of: id)
    }

    /// Destroys a data key: what was encrypted under it nobody can read any more, wherever a copy of that is.
    ///
    /// In SQLite's file the row stays, and as long as it was: so zeros are written in the same place, and no other key is
    /// moved.
    func destroyDataKey(of id: EnrollmentID) throws {
        dataKeys.forget(id)
        guard !sealing.isShared else {
            return try database.run("DELETE FROM data_key WHERE enrollment_id = ?", [id.text])
        }
        guard let (slot, sealed) = try keptDataKey(of: id) else { return }
        try database.run(
            "UPDATE data_key SET enrollment_id = ?, sealed = ? WHERE slot = ?",
            [FreeSlot.id(of: slot), [UInt8](repeating: 0, count: sealed.count), slot])
    }

    /// Writes the same data key, sealed anew; nothing if the row has another one.
    package func update(_ old: SealedDataKey, resealed: [UInt8]) throws {
        dataKeys.forget(old.enrollmentId)
        try database.run(
            "UPDATE data_key SET sealed = ? WHERE enrollment_id = ? AND sealed = ?",
            [resealed, old.enrollmentId.text, old.sealed])
    }
}

/// The mark of a row whose data key was destroyed, in the place of an enrollment's id: as long as an id, and behind all ids.
private enum FreeSlot {
    static let prefix = "unused"

    static func id(of slot: Int64) -> String {
        let digits = String(slot)
        return prefix + String(repeating: "0", count: max(0, 14 - digits.count)) + digits
    }
}
