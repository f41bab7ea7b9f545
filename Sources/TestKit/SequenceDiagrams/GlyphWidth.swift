import TextAndTime

/// The width of a scalar in a proportional font.
enum GlyphWidth {
    /// Returns the width in thousandths of the font's size.
    ///
    /// The widths are those of DejaVu Sans, the widest of the usual fonts. They are larger than needed for scalars
    /// outside ASCII.
    static func thousandths(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case " "..."~": ascii[Int(scalar.value) - 0x20]
        case "’", "‘", "·": 340
        // Ligatures of whole sentences, and cuneiform signs for numbers.
        case "\u{FDFA}"..."\u{FDFD}", "\u{12000}"..."\u{1254F}": 8_000
        default: isMark(scalar) ? 0 : DisplayWidth.isWide(scalar) ? 1_350 : isLetterOfEurope(scalar) ? 800 : 1_200
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
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    private static func isLetterOfEurope(_ scalar: Unicode.Scalar) -> Bool { (0xC0...0x52F).contains(scalar.value) }
}
