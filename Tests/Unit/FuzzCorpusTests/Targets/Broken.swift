/// A property of a parser that some bytes have shown not to hold.
struct Broken: Error, CustomStringConvertible {
    let description: String
}

/// Throws `Broken` with the sentence unless the condition holds.
func mustHold(_ condition: Bool, _ property: @autoclosure () -> String) throws(Broken) {
    guard condition else { throw Broken(description: property()) }
}

/// Text that goes into a log line, an error or a problem: bounded, and without what could move or end a line.
func mustBeOneLine(_ text: String, _ what: String) throws(Broken) {
    try mustHold(text.utf8.count <= 4_096, "\(what) is bounded")
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
        // Joiners, which are shown where a script or an emoji calls for them.
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
    try mustHold(isPlain, "\(what) is one line of characters that can be shown")
}

extension [UInt8] {
    /// The bytes as text; what is no UTF-8 is replaced.
    var text: String { String(decoding: self, as: UTF8.self) }
}
