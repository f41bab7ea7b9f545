#if PostgreSQL
import CPostgres
package import TableRows

/// One row of an answer, by the places of its columns.
package struct PostgresRow: StatementRow, Sendable {
    let values: [ColumnValue?]

    package subscript(index: Int) -> ColumnValue? { values.indices.contains(index) ? values[index] : nil }
}

extension ColumnValue {
    /// A column's value in PostgreSQL's binary form; nil for a type that no column of ours has, or of another length.
    init?(type: Oid, _ content: UnsafeRawBufferPointer) {
        // The numbers of the types are the same in every database (pg_type.dat).
        switch type {
        case 16 where content.count == 1: self = unsafe .number(content[0] == 0 ? 0 : 1)
        case 17: self = unsafe .bytes(Array(content))
        case 20 where content.count == 8:
            self = unsafe .number(Int64(bigEndian: content.loadUnaligned(as: Int64.self)))
        case 21 where content.count == 2:
            self = unsafe .number(Int64(Int16(bigEndian: content.loadUnaligned(as: Int16.self))))
        case 23 where content.count == 4:
            self = unsafe .number(Int64(Int32(bigEndian: content.loadUnaligned(as: Int32.self))))
        case 5069 where content.count == 8:  // xid8: a database lives on for as many transactions as a bigint counts.
            let number = unsafe Int64(exactly: UInt64(bigEndian: content.loadUnaligned(as: UInt64.self)))
            guard let number else { return nil }
            self = .number(number)
        case 19, 25, 1043: self = unsafe .text(String(decoding: content, as: UTF8.self))
        default: return nil
        }
    }
}
#endif
