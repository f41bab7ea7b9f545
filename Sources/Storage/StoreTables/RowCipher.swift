import Keys
import TableRows

/// Encrypts and decrypts the personal values of one row under the data key of its enrollment.
///
/// A value is bound to its table, column, enrollment and row, so a value copied from another place does not decrypt.
/// NULL and empty values stay unencrypted, because statements select by them.
struct RowCipher {
    private let place: String
    /// Opens the data key only if a value needs it: an erased row has neither a key nor an encrypted value.
    private let key: () throws -> DataKey

    init(place: String, key: @escaping () throws -> DataKey) {
        self.place = place
        self.key = key
    }

    /// - Returns: `nil` if the value was not encrypted for this place under this key.
    func opened(_ value: ColumnValue, column: String) throws -> ColumnValue? {
        switch value {
        case .null: return .null
        case .bytes(let bytes) where bytes.isEmpty: return value
        case .bytes(let bytes): return try key().decrypt(bytes, for: "\(place) \(column)").map { .bytes($0) }
        case .text, .number: return nil
        }
    }

    func closed(_ value: ColumnValue, column: String) throws -> ColumnValue {
        guard case .bytes(let bytes) = value, !bytes.isEmpty else { return value }
        return .bytes(try key().encrypt(bytes, for: "\(place) \(column)"))
    }
}

extension RowCipher {
    func optionalBytes<Column>(_ fields: Fields<Column>, _ column: Column) throws -> [UInt8]? {
        switch try value(fields, column) {
        case .null: nil
        case .bytes(let bytes): bytes
        default: throw fields.unreadable(column)
        }
    }

    func bytes<Column>(_ fields: Fields<Column>, _ column: Column) throws -> [UInt8] {
        guard let bytes = try optionalBytes(fields, column) else { throw fields.unreadable(column) }
        return bytes
    }

    func value<Column>(_ fields: Fields<Column>, _ column: Column) throws -> ColumnValue {
        guard let value = try opened(fields.any(column), column: Column.table.name(of: column)) else {
            throw fields.unreadable(column)
        }
        return value
    }

    func closed<Column: TableColumn>(_ value: some ColumnValueConvertible, _ column: Column) throws -> ColumnValue {
        try closed(value.columnValue, column: Column.table.name(of: column))
    }
}
