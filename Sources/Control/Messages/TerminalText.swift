internal import ThreeDS

/// Text from outside, made fit for a terminal.
package enum TerminalText {
    /// One line; control characters and what could hide or reorder text come out as visible escapes.
    package static func escaped(_ raw: String) -> String { DisplayText(raw).text }

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
