#if PostgreSQL
import TableRows

/// Swift arrays in the form that libpq expects.
enum CArrays {
    /// Passes the strings as an array that ends with a null pointer.
    ///
    /// The array is valid only during `body`.
    static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        var places: [Int] = []
        for string in strings {
            places.append(bytes.count)
            bytes += string.utf8CString
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for place in places { unsafe pointers.append(buffer.baseAddress?.advanced(by: place)) }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }

    /// Passes the parameters' contents, lengths and formats.
    ///
    /// The arrays are valid only during `body`.
    static func withParameters<Result>(
        _ values: [ColumnValue],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        var bytes: [UInt8] = []
        var places: [Int?] = []
        var lengths: [Int32] = []
        for value in values {
            guard let content = value.parameter else {
                places.append(nil)
                lengths.append(0)
                continue
            }
            places.append(bytes.count)
            lengths.append(Int32(clamping: content.count))
            bytes += content
        }
        // Makes the address of an empty value non-null: libpq sends a null pointer as NULL.
        bytes.append(0)
        let formats = values.map(\.parameterFormat)
        return unsafe bytes.withUnsafeBytes { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for place in places {
                unsafe pointers.append(
                    place.flatMap { unsafe buffer.baseAddress?.advanced(by: $0) }?
                        .assumingMemoryBound(to: CChar.self))
            }
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress, lengths, formats) }
        }
    }
}
#endif
