import Keys
import StrictJSON
import TableRows

/// Encrypts and decrypts the personal values of one row, under the data key of its enrollment.
///
/// A value is bound to its table, column, enrollment and row, so that one of another place does not open. What is missing
/// or empty stays so, as statements ask for that; a text becomes the base64url of its encrypted bytes. In a store without
/// data keys a value is as it is.
struct RowCipher {
    /// Of a store without data keys.
    static var plain: RowCipher { RowCipher() }

    private var place = ""
    /// Opened when it is needed: a row that was erased has no key any more, and nothing that needs it.
    private var key: (() throws -> DataKey)?

    private init() {}

    init(place: String, key: @escaping () throws -> DataKey) {
        self.place = place
        self.key = key
    }

    /// - Returns: nil if it was not written to this place under this key.
    func opened(_ value: ColumnValue, column: String) throws -> ColumnValue? {
        guard let key, !value.isEmpty else { return value }
        switch value {
        case .bytes(let bytes): return try key().decrypt(bytes, for: "\(place) \(column)").map { .bytes($0) }
        case .text(let text):
            guard let bytes = Base64URL.decode(text),
                let plain = try key().decrypt(bytes, for: "\(place) \(column)")
            else { return nil }
            return .text(String(decoding: plain, as: UTF8.self))
        case .null, .number: return nil
        }
    }

    func closed(_ value: ColumnValue, column: String) throws -> ColumnValue {
        guard let key, !value.isEmpty else { return value }
        func encrypted(_ bytes: [UInt8]) throws -> [UInt8] { try key().encrypt(bytes, for: "\(place) \(column)") }
        switch value {
        case .bytes(let bytes): return .bytes(try encrypted(bytes))
        case .text(let text): return .text(Base64URL.encode(try encrypted(Array(text.utf8))))
        case .null, .number: return value
        }
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

extension ColumnValue {
    /// Whether there is nothing to hide in it.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .bytes(let bytes): bytes.isEmpty
        case .text(let text): text.isEmpty
        case .number: false
        }
    }
}
