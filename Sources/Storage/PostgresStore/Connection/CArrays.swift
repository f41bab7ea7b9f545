#if PostgreSQL
import TableRows

/// Swift's arrays as libpq takes them.
enum CArrays {
    /// A list of strings with a null at its end, for the time of `body`.
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

    /// Parameters' contents, lengths and formats, for the time of `body`.
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
        // An empty value has a place too: a null pointer would make it null.
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
