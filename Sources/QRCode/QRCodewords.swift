/// The codewords of a code: data, split into blocks, with those that correct errors (ISO/IEC 18004:2015 §7.4 to 7.6).
enum QRCodewords {
    /// In the order in which they are placed.
    static func all(of bytes: [UInt8], in version: QRVersion) -> [UInt8] {
        let blocks = blocks(of: data(bytes, in: version), in: version)
        let corrections = blocks.map { ReedSolomon.correction(of: $0, count: version.correction) }
        return interleaved(blocks) + interleaved(corrections)
    }

    /// Byte mode, the count, the bytes, the terminator, and pad codewords.
    private static func data(_ bytes: [UInt8], in version: QRVersion) -> [UInt8] {
        var bits: [Bool] = []
        bits.append(0b0100, bits: 4)
        bits.append(bytes.count, bits: version.countBits)
        for byte in bytes { bits.append(Int(byte), bits: 8) }
        bits.append(0, bits: 4)
        let words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        let pads = (0..<version.dataCodewords - words.count).map { UInt8($0.isMultiple(of: 2) ? 0xEC : 0x11) }
        return words + pads
    }

    /// Blocks of one length, then those that are one longer.
    private static func blocks(of data: [UInt8], in version: QRVersion) -> [[UInt8]] {
        let (length, longer) = data.count.quotientAndRemainder(dividingBy: version.blocks)
        var rest = data[...]
        return (0..<version.blocks).map { index in
            let block = rest.prefix(index < version.blocks - longer ? length : length + 1)
            rest = rest.dropFirst(block.count)
            return Array(block)
        }
    }

    /// The first of each, the second of each, and so on.
    private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
        (0..<(blocks.map(\.count).max() ?? 0)).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}

extension [Bool] {
    /// Adds the lowest bits of a number, the highest of them first.
    fileprivate mutating func append(_ number: Int, bits: Int) {
        for bit in (0..<bits).reversed() { append(number >> bit & 1 == 1) }
    }
}
