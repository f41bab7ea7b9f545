import TextAndTime

/// Text from outside, made fit for a terminal.
package enum TerminalText {
    /// One line; control characters and what could hide or reorder text come out as visible escapes.
    package static func escaped(_ raw: String) -> String { DisplayText(raw).text }

    /// The text that is meant by one that a person typed or copied from a screen.
    ///
    /// A text that ``escaped(_:)`` gives stands for the text that it is given for, any other for itself: each stands
    /// for one text only.
    package static func meant(by typed: String) -> String { DisplayText.raw(of: typed) ?? typed }

    /// A code or another text that a person typed or copied, without what a file or a mouse adds at its ends.
    package static func trimmed(_ typed: String) -> String { TypedText.trimmed(typed) }

    /// The columns that text takes on a terminal.
    package static func columns(_ text: some StringProtocol) -> Int { DisplayWidth.columns(text) }

    /// The columns that a scalar adds to a text.
    package static func columns(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Int {
        DisplayWidth.columns(scalar, after: previous)
    }

    /// JSON as the same JSON, in which everything stands as an escape that a terminal obeys or does not show.
    package static func json(_ json: String) -> String { ShownJSON.escaped(json) }

    /// As ``escaped(_:)``, for a sentence in which escapes may stand already: backslashes and spaces stay as they are.
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
