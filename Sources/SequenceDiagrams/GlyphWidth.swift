/// How wide a scalar is drawn.
enum GlyphWidth {
    static func columns(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        if isMark(scalar) { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    /// In thousandths of the font's size: as DejaVu Sans has it, the widest of the usual fonts, and rather more for what
    /// is not ASCII.
    static func thousandths(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case " "..."~": ascii[Int(scalar.value) - 0x20]
        case "’", "‘", "·": 340
        // Whole sentences and signs for numbers.
        case "\u{FDFA}"..."\u{FDFD}", "\u{12000}"..."\u{1254F}": 8_000
        default: isMark(scalar) ? 0 : isWide(scalar) ? 1_350 : isLetterOfEurope(scalar) ? 800 : 1_200
        }
    }

    private static let ascii = [
        318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636,
        636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656,
        557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613,
        635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818,
        592, 592, 525, 636, 337, 636, 838,
    ]

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isLetterOfEurope(_ scalar: Unicode.Scalar) -> Bool { (0xC0...0x52F).contains(scalar.value) }

    /// Blocks whose characters take two columns (Unicode Standard Annex #11, W and F), not all to the last one.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool { wide.contains { $0.contains(scalar.value) } }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615,
        0x2648...0x2653, 0x26A1...0x26A1, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF,
        0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
