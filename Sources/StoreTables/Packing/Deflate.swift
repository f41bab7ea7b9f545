import CZlib

/// Few bytes for many, by zlib: raw DEFLATE (RFC 1951) behind the number of bytes that it stands for.
struct Deflate {
    /// The most bytes that are packed together, so that few bytes cannot fill the memory.
    static let limit = 4 * 1_024 * 1_024

    /// What both sides know: it need not be written again.
    var dictionary: [UInt8] = []

    /// Nil if there are more than ``limit``.
    func packed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= Self.limit else { return nil }
        // What cannot be packed takes five bytes more for each 16 KiB.
        let room = bytes.count + bytes.count / 1_000 + 64
        var count = -1
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
            count = unsafe shim_deflate(
                bytes, bytes.count, dictionary, dictionary.count, buffer.baseAddress, buffer.count)
            filled = max(count, 0)
        }
        return count >= 0 ? Self.head(bytes.count) + packed : nil
    }

    /// Nil for what ``packed(_:)`` did not give.
    func unpacked(_ packed: ArraySlice<UInt8>) -> [UInt8]? {
        guard packed.count >= 4 else { return nil }
        let count = packed.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= Self.limit else { return nil }
        let input = [UInt8](packed.dropFirst(4))
        var isWhole = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(count, 1)) { buffer, filled in
            let result = unsafe shim_inflate(
                input, input.count, dictionary, dictionary.count, buffer.baseAddress, count)
            isWhole = result == 1
            filled = isWhole ? count : 0
        }
        return isWhole ? bytes : nil
    }

    /// In four bytes, big-endian.
    private static func head(_ count: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}
