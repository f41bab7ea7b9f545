#if PostgreSQL
import TableRows

/// The values of a statement's parameters, as libpq takes them.
///
/// The server finds their types. So a number is sent as digits, which may be of any of its types, and texts and bytes in
/// the binary form, which has a length: a text that holds U+0000 is refused by the server and never cut there.
struct PostgresParameters {
    private var bytes: [CChar] = []
    /// Where each value begins in ``bytes``; nil for null.
    private var places: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ values: [ColumnValue]) {
        for value in values {
            switch value {
            case .null: add(nil, format: 0)
            case .number(let number): add(Array("\(number)".utf8), format: 0)
            case .text(let text): add(Array(text.utf8), format: 1)
            case .bytes(let bytes): add(bytes, format: 1)
            }
        }
    }

    private mutating func add(_ value: [UInt8]?, format: Int32) {
        places.append(value == nil ? nil : bytes.count)
        // libpq's lengths have 31 bits; nothing here is as long.
        lengths.append(Int32(clamping: value?.count ?? 0))
        formats.append(format)
        bytes += (value ?? []).map(CChar.init(bitPattern:))
        // What is sent as text ends with a null byte, and what is empty has an address.
        bytes.append(0)
    }

    /// Calls `body` with the number of values, and their addresses, lengths and formats.
    func withPointers<Result>(
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            let pointers = unsafe places.map { place in
                unsafe place.flatMap { unsafe bytes.baseAddress?.advanced(by: $0) }
            }
            return unsafe body(Int32(clamping: pointers.count), pointers, lengths, formats)
        }
    }
}
#endif
