/// The only path from text to the terminal's bytes.
enum Glyphs {
    /// Escapes everything that a terminal interprets.
    ///
    /// Control characters, also line feeds, and characters that are invisible or reorder text become visible escapes,
    /// in the agent's form. Without UTF-8, all characters except ASCII become escapes.
    ///
    /// The agent's text has no such characters left: in UTF-8 it stays unchanged.
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
        // The agent keeps joiners only where a script or an emoji needs them, and terminals do not interpret them.
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
