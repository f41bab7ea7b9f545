import Keys
package import Records
import TableRows

/// The column of an enrollment's sealed data key.
///
/// A statement selects it after the columns of its tables.
package enum DataKeyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("data_key", naming: .snakeCase)

    case sealed
}

/// The data keys that one database transaction has read.
///
/// The cache ends with the database transaction, so no row is read or written under a key that the database has
/// destroyed.
final class SeenDataKeys {
    /// The limit for each cache, in keys.
    ///
    /// A full cache is emptied.
    private static let limit = 512

    private var sealed: [EnrollmentID: [UInt8]] = [:]
    private var opened: [EnrollmentID: (sealed: [UInt8], key: DataKey)] = [:]

    subscript(id: EnrollmentID) -> [UInt8]? { sealed[id] }

    func record(_ key: [UInt8]?, of id: EnrollmentID) {
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
    /// A subquery for the sealed data key of an enrollment, as the last column of a `SELECT`.
    ///
    /// - Parameter enrollment: the column that has the enrollment's id.
    static func dataKey(of enrollment: String) -> String {
        "(SELECT sealed FROM data_key WHERE data_key.enrollment_id = \(enrollment))"
    }

    /// Returns the cipher for the personal values of a row that was read.
    ///
    /// - Parameters:
    ///   - row: the row's key in its table.
    ///   - fields: the sealed data key, from the same statement as the row.
    func cipher<Column>(
        _ table: TableLayout<Column>, row: String, of id: EnrollmentID, _ fields: Fields<DataKeyColumn>
    ) throws -> RowCipher {
        let sealed = try fields.optionalBytes(.sealed)
        dataKeys.record(sealed, of: id)
        return cipher(table.name, row: row, of: id, sealed)
    }

    /// Returns the cipher for a row that is to be written.
    ///
    /// Reads the data key unless it was read already.
    func cipher<Column>(_ table: TableLayout<Column>, row: String, of id: EnrollmentID) throws -> RowCipher {
        try cipher(table.name, row: row, of: id)
    }

    func cipher(_ table: String, row: String, of id: EnrollmentID) throws -> RowCipher {
        if dataKeys[id] == nil { dataKeys.record(try keptDataKey(of: id)?.sealed, of: id) }
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

    /// The sealed data keys of the enrollments after `id`, in the order of their ids, at most `limit`.
    ///
    /// `nil` starts with the first id. Includes ended enrollments. Empty if the store has no data keys.
    package func dataKeys(after id: EnrollmentID?, limit: Int) throws -> [SealedDataKey] {
        try database.rows(
            """
            SELECT enrollment_id, sealed FROM data_key WHERE enrollment_id > ? AND enrollment_id < ?
            ORDER BY enrollment_id LIMIT ?
            """,
            [id?.text ?? "", FreeSlot.prefix, limit], as: sealedDataKey)
    }

    /// Reads the data keys of several enrollments with one statement, before their rows are written.
    func seeDataKeys(of ids: Set<EnrollmentID>) throws {
        let unseen = ids.filter { dataKeys[$0] == nil }
        guard !unseen.isEmpty else { return }
        let sql = """
            SELECT enrollment_id, sealed FROM data_key WHERE enrollment_id IN (\(database.dialect.elements("?")))
            """
        for key in try database.rows(sql, [Self.json(unseen)], as: sealedDataKey) {
            dataKeys.record(key.sealed, of: key.enrollmentId)
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
    /// Creates the data key of a new enrollment.
    ///
    /// SQLite reuses the row of a destroyed key if there is one.
    func insertDataKey(of id: EnrollmentID) throws {
        // PostgreSQL writes a changed row to a new place anyway, and several hosts would compete for the same free row.
        guard !sealing.isShared, let slot = try freeSlot() else { return try addDataKey(of: id) }
        let sealed = try sealing.dataKeys.seal(DataKey.generate(), of: id)
        try database.execute(
            "UPDATE data_key SET enrollment_id = ?, sealed = ? WHERE slot = ?", [id.text, sealed, slot])
        dataKeys.record(sealed, of: id)
    }

    /// The slot of a destroyed key, or `nil` if there is none.
    private func freeSlot() throws -> Int64? {
        try database.number(
            "SELECT slot FROM data_key WHERE enrollment_id >= ? ORDER BY enrollment_id LIMIT 1", [FreeSlot.prefix])
    }

    /// Creates the data key of an enrollment in a new row after all others.
    func addDataKey(of id: EnrollmentID) throws {
        let sealed = try sealing.dataKeys.seal(DataKey.generate(), of: id)
        try database.execute("INSERT INTO data_key (enrollment_id, sealed) VALUES (?, ?)", [id.text, sealed])
        dataKeys.record(sealed, of: id)
    }

    /// Destroys a data key, so that values encrypted under it become unreadable here, and in copies that lack the key.
    ///
    /// Backups from before still have the key, and for some time so do the database's log and PostgreSQL's unvacuumed
    /// pages.
    ///
    /// In SQLite the row stays and keeps its length: zeros overwrite the key in place, and no other key moves.
    func destroyDataKey(of id: EnrollmentID) throws {
        dataKeys.forget(id)
        guard !sealing.isShared else {
            return try database.execute("DELETE FROM data_key WHERE enrollment_id = ?", [id.text])
        }
        guard let (slot, sealed) = try keptDataKey(of: id) else { return }
        try database.execute(
            "UPDATE data_key SET enrollment_id = ?, sealed = ? WHERE slot = ?",
            [FreeSlot.id(of: slot), [UInt8](repeating: 0, count: sealed.count), slot])
    }

    /// Replaces the sealed form of a data key.
    ///
    /// Changes no row if the row has another key by now.
    package func update(_ old: SealedDataKey, resealed: [UInt8]) throws {
        dataKeys.forget(old.enrollmentId)
        try database.execute(
            "UPDATE data_key SET sealed = ? WHERE enrollment_id = ? AND sealed = ?",
            [resealed, old.enrollmentId.text, old.sealed])
    }
}

/// The id of a row whose data key was destroyed.
///
/// It is as long as an enrollment's id, and sorts after all of them.
private enum FreeSlot {
    static let prefix = "unused"

    static func id(of slot: Int64) -> String {
        let digits = String(slot)
        return prefix + String(repeating: "0", count: max(0, 14 - digits.count)) + digits
    }
}
