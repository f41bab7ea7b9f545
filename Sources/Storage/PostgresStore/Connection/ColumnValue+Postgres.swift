#if PostgreSQL
import TableRows

/// Conversions between values and PostgreSQL's protocol.
///
/// The server infers the types of parameters, so a statement that was parsed once accepts any value. A number is sent
/// as digits, which bigint, integer and boolean all accept. A text and bytes are sent in binary with their length. So
/// the server rejects a text that contains U+0000 (SQLSTATE 22021), and does not cut it short.
extension ColumnValue {
    /// The bytes to send, or `nil` for NULL.
    ///
    /// libpq reads the digits of a number up to a zero byte.
    var parameter: [UInt8]? {
        switch self {
        case .null: nil
        case .number(let number): Array(String(number).utf8) + [0]
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        }
    }

    /// 0 for text format, 1 for binary.
    var parameterFormat: Int32 {
        switch self {
        case .null, .number: 0
        case .text, .bytes: 1
        }
    }

    /// The limit for a value, in bytes: a column of PostgreSQL cannot be larger.
    static let largest = 1 << 30

    /// The size in bytes.
    var size: Int {
        switch self {
        case .null, .number: 0
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    /// Decodes a column's binary form.
    ///
    /// - Parameter type: the OID of the column's type (pg_type.dat).
    /// - Returns: `nil` for a type that none of our statements selects, and for content that does not fit the type.
    init?(postgresType type: UInt32, _ content: UnsafeRawBufferPointer) {
        switch type {
        case 16 where content.count == 1: self = unsafe .number(content[0] == 0 ? 0 : 1)  // bool
        case 17: self = unsafe .bytes(Array(content))  // bytea
        case 20: unsafe self.init(content, Int64.self)
        case 21: unsafe self.init(content, Int16.self)
        case 23: unsafe self.init(content, Int32.self)
        case 26: unsafe self.init(content, UInt32.self)  // oid
        case 5069: unsafe self.init(content, UInt64.self)  // xid8
        case 19, 25, 1043:  // name, text, varchar
            let bytes = unsafe content.bindMemory(to: UInt8.self)
            guard let text = unsafe try? UTF8Span(validating: bytes.span) else { return nil }
            self = .text(String(copying: text))
        case 2278 where content.count == 0: self = .null  // void, of a function that is called for what it does
        default: return nil
        }
    }

    private init?<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ content: UnsafeRawBufferPointer, _: Integer.Type
    ) {
        guard content.count == MemoryLayout<Integer>.size else { return nil }
        guard let number = unsafe Int64(exactly: Integer(bigEndian: content.loadUnaligned(as: Integer.self))) else {
            return nil
        }
        self = .number(number)
    }
}
#endif
