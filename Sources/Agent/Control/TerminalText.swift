import TextAndTime

/// Escaping of external text for a terminal.
package enum TerminalText {
    /// Returns one line in which control characters, and characters that hide or reorder text, are visible escapes.
    package static func escaped(_ raw: String) -> String { DisplayText(raw).text }

    /// Returns the text that is meant by a text that a person typed or copied from a screen.
    ///
    /// An output of ``escaped(_:)`` means its input. Any other text means itself. So each text means exactly one text.
    package static func meant(by typed: String) -> String { DisplayText.raw(of: typed) ?? typed }

    /// Returns a code or another typed or copied text without what a file or a mouse adds at its ends.
    package static func trimmed(_ typed: String) -> String { TypedText.trimmed(typed) }

    /// Returns the columns that a text takes on a terminal.
    package static func columns(_ text: some StringProtocol) -> Int { DisplayWidth.columns(text) }

    /// Returns the columns that a scalar adds to a text.
    package static func columns(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Int {
        DisplayWidth.columns(scalar, after: previous)
    }

    /// Returns the same JSON, with escapes for characters that a terminal obeys or does not show.
    package static func json(_ json: String) -> String { ShownJSON.escaped(json) }

    /// Escapes a sentence that may already contain escapes: like ``escaped(_:)``, but keeps backslashes and spaces.
    package static func sentence(_ raw: String) -> String {
        var result = ""
        var word = ""
        for scalar in raw.unicodeScalars {
            guard scalar == " " || scalar == "\\" else {
                word.unicodeScalars.append(scalar)
                continue
            }
            result += escaped(word) + String(scalar)
            word = ""
        }
        return result + escaped(word)
    }
}
