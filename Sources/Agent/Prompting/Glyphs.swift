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
        // The agent leaves joiners only where a script or an emoji calls for them, and no terminal obeys them.
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
