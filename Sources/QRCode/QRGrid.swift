/// The modules while they are filled (ISO/IEC 18004:2015 §6.3 and 7.7 to 7.10).
struct QRGrid {
    let size: Int
    private(set) var dark: [Bool]
    /// What no data goes to, and no mask changes.
    private var isFixed: [Bool]

    /// The code under the mask that leaves the least that could mislead a reader (§7.8.3).
    static func masked(_ version: QRVersion, _ codewords: [UInt8]) -> QRGrid {
        var plain = QRGrid(version)
        plain.place(codewords)
        let masked = QRMask.allCases.map { plain.under($0) }
        return masked.dropFirst().reduce(masked[0]) { $0.penalty <= $1.penalty ? $0 : $1 }
    }

    private init(_ version: QRVersion) {
        size = version.size
        dark = Array(repeating: false, count: size * size)
        isFixed = dark
        for index in 0..<size {
            fix(row: 6, column: index, isDark: index.isMultiple(of: 2))
            fix(row: index, column: 6, isDark: index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        drawAlignment(version.alignment)
        drawFormat(of: .rows)
        if version.number >= 7 { drawVersion(version.number) }
    }

    subscript(row: Int, column: Int) -> Bool { dark[row * size + column] }

    private mutating func fix(row: Int, column: Int, isDark: Bool) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        dark[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    /// Squares within squares, and the light rim around them.
    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for down in -4...4 {
            for across in -4...4 {
                let ring = max(abs(down), abs(across))
                fix(row: row + down, column: column + across, isDark: ring != 2 && ring != 4)
            }
        }
    }

    /// At every crossing but the three in which a finder is.
    private mutating func drawAlignment(_ centres: [Int]) {
        guard let last = centres.last else { return }
        for row in centres {
            for column in centres where ![(6, 6), (6, last), (last, 6)].contains(where: { $0 == (row, column) }) {
                for down in -2...2 {
                    for across in -2...2 {
                        let isDark = max(abs(down), abs(across)) != 1
                        fix(row: row + down, column: column + across, isDark: isDark)
                    }
                }
            }
        }
    }

    /// Level M and the mask, twice (§7.9): beside the finder in the corner, and half beside each other finder.
    private mutating func drawFormat(of mask: QRMask) {
        let bits = BCH.format(mask.rawValue)
        for bit in 0..<15 {
            let isDark = bits >> bit & 1 == 1
            // The timing patterns in row and column 6 are stepped over.
            switch bit {
            case 0..<6: fix(row: bit, column: 8, isDark: isDark)
            case 6, 7: fix(row: bit + 1, column: 8, isDark: isDark)
            case 8: fix(row: 8, column: 7, isDark: isDark)
            default: fix(row: 8, column: 14 - bit, isDark: isDark)
            }
            if bit < 8 {
                fix(row: 8, column: size - 1 - bit, isDark: isDark)
            } else {
                fix(row: size - 15 + bit, column: 8, isDark: isDark)
            }
        }
        fix(row: size - 8, column: 8, isDark: true)
    }

    /// Twice (§7.10): left of one finder and above another.
    private mutating func drawVersion(_ number: Int) {
        let bits = BCH.version(number)
        for bit in 0..<18 {
            let (long, short) = (bit / 3, size - 11 + bit % 3)
            fix(row: long, column: short, isDark: bits >> bit & 1 == 1)
            fix(row: short, column: long, isDark: bits >> bit & 1 == 1)
        }
    }

    /// Upwards and downwards in columns of two modules from the right, the highest bit first; what is left stays light.
    private mutating func place(_ codewords: [UInt8]) {
        let all: [Bool] = codewords.flatMap { word in (0..<8).reversed().map { word >> $0 & 1 == 1 } }
        var bits = all[...]
        let columns = Array(stride(from: size - 1, to: 6, by: -2)) + Array(stride(from: 5, to: 0, by: -2))
        for (turn, right) in columns.enumerated() {
            for step in 0..<size {
                let row = turn.isMultiple(of: 2) ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] {
                    dark[row * size + column] = bits.popFirst() ?? false
                }
            }
        }
    }

    private func under(_ mask: QRMask) -> QRGrid {
        var masked = self
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] && mask.inverts(row, column) {
                masked.dark[row * size + column].toggle()
            }
        }
        masked.drawFormat(of: mask)
        return masked
    }
}

/// The numbers that say format and version, with bits that correct errors (annexes C and D).
private enum BCH {
    /// Of level M, whose number is 0.
    static func format(_ mask: Int) -> Int {
        (mask << 10 | remainder(mask << 10, 0b101_0011_0111)) ^ 0b101_0100_0001_0010
    }

    static func version(_ number: Int) -> Int { number << 12 | remainder(number << 12, 0b1_1111_0010_0101) }

    /// Of polynomials over two elements.
    private static func remainder(_ dividend: Int, _ divisor: Int) -> Int {
        var rest = dividend
        while rest.bitWidth - rest.leadingZeroBitCount >= divisor.bitWidth - divisor.leadingZeroBitCount {
            rest ^= divisor << (divisor.leadingZeroBitCount - rest.leadingZeroBitCount)
        }
        return rest
    }
}
