/// The measures of a version at level M (ISO/IEC 18004:2015, tables 1, 9 and E.1).
struct QRVersion: Sendable {
    let number: Int
    /// All codewords, those of error correction among them.
    let codewords: Int
    /// Codewords of error correction in each block.
    let correction: Int
    let blocks: Int
    /// Rows, and columns, in which alignment patterns have their centres.
    let alignment: [Int]

    static let all = [
        QRVersion(number: 1, codewords: 26, correction: 10, blocks: 1, alignment: []),
        QRVersion(number: 2, codewords: 44, correction: 16, blocks: 1, alignment: [6, 18]),
        QRVersion(number: 3, codewords: 70, correction: 26, blocks: 1, alignment: [6, 22]),
        QRVersion(number: 4, codewords: 100, correction: 18, blocks: 2, alignment: [6, 26]),
        QRVersion(number: 5, codewords: 134, correction: 24, blocks: 2, alignment: [6, 30]),
        QRVersion(number: 6, codewords: 172, correction: 16, blocks: 4, alignment: [6, 34]),
        QRVersion(number: 7, codewords: 196, correction: 18, blocks: 4, alignment: [6, 22, 38]),
        QRVersion(number: 8, codewords: 242, correction: 22, blocks: 4, alignment: [6, 24, 42]),
        QRVersion(number: 9, codewords: 292, correction: 22, blocks: 5, alignment: [6, 26, 46]),
        QRVersion(number: 10, codewords: 346, correction: 26, blocks: 5, alignment: [6, 28, 50]),
    ]

    /// Modules a side.
    var size: Int { 17 + 4 * number }
    /// Codewords that hold data.
    var dataCodewords: Int { codewords - correction * blocks }
    /// Bits of the count of bytes (table 3).
    var countBits: Int { number < 10 ? 8 : 16 }
    /// The bytes that it holds after mode (4 bits), their count, and with the terminator (4 bits).
    var bytes: Int { (8 * dataCodewords - 8 - countBits) / 8 }
}
