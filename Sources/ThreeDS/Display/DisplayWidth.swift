/// The columns that text takes on a terminal (Unicode Standard Annex #11).
///
/// Terminals differ in emoji that are joined (UTS #51): some draw one picture of two columns, others each part. Here each
/// part counts, so a line is never longer than it is taken to be.
package enum DisplayWidth {
    package static func columns(_ text: some StringProtocol) -> Int {
        var (sum, previous) = (0, Unicode.Scalar?.none)
        for scalar in text.unicodeScalars {
            sum += columns(scalar, after: previous)
            previous = scalar
        }
        return sum
    }

    /// The columns that a scalar adds to a text.
    ///
    /// U+FE0F makes an emoji of one column two columns wide.
    package static func columns(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Int {
        guard !scalar.isASCII else { return 1 }
        if scalar == "\u{FE0F}" { return previous.map(isWide) == false ? 1 : 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    /// Blocks whose characters take two columns (W and F), not all to the last one: text is wrapped somewhat too early
    /// if one of them is narrow.
    package static func isWide(_ scalar: Unicode.Scalar) -> Bool { wide.contains { $0.contains(scalar.value) } }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
