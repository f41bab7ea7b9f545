/// The only way from text to the terminal's bytes.
enum Glyphs {
    /// The text without anything that a terminal obeys: control characters, also line feeds, and what is invisible or
    /// reorders come out as visible escapes, as the agent writes them; without UTF-8, all that is not ASCII does.
    ///
    /// The agent's text has none of them left: in UTF-8 it passes as it is.
    static func fit(_ text: String, isUTF8: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII ? isPrintable(scalar) : isUTF8 && isPrintable(scalar) {
                result += String(scalar)
            } else {
                result += #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
            }
        }
        return result
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    /// The columns that text takes on a terminal.
    static func width(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    static func width(_ scalar: Unicode.Scalar) -> Int {
        guard !scalar.isASCII else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Blocks whose characters take two columns (Unicode Standard Annex #11, W and F), not all to the last one: text
    /// is wrapped somewhat too early if one of them is narrow.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615,
        0x2648...0x2653, 0x26A1...0x26A1, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF,
        0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
