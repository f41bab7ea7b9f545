/// Text from outside, made fit to be shown: one line that reads as what it is.
///
/// Scalars that could hide, reorder or forge text are written as `\u{202E}`, a backslash as `\\`. Every escape begins
/// with a backslash and no other backslash is left, so different texts never look the same by an escape, and the raw
/// text can be read back. A space that begins or ends the text or follows another space is written as `\u{20}`.
///
/// Joiners, variation selectors, keycaps, U+3000, U+202F and U+00A0 are shown as they are only in places where a script or an emoji calls for them.
package struct DisplayText: Sendable {
    /// The text to show: at most 10 scalars for each one that came.
    package let text: String
    /// Whether something was escaped that can mislead: anything but spaces and backslashes.
    package let hasEscapes: Bool

    package init(_ raw: String) {
        guard !Self.isPlain(raw) else {
            text = raw
            hasEscapes = false
            return
        }
        // Not a view of scalars: appending to one copies all that is there already, each time.
        var output = ""
        var hasEscapes = false
        var context = DisplayContext()
        var rest = raw.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let form = context.form(of: scalar, before: rest)
            output += form.written(scalar)
            hasEscapes = hasEscapes || form == .hostile
            context.advance(past: scalar, as: form)
        }
        self.text = output
        self.hasEscapes = hasEscapes
    }

    /// Whether every scalar is a visible one of ASCII or a single space between two such, and none a backslash.
    ///
    /// Most texts are, and nothing of them has to be looked at more closely.
    private static func isPlain(_ raw: String) -> Bool {
        var followsSpace = true
        for byte in raw.utf8 {
            switch byte {
            case UInt8(ascii: " "):
                if followsSpace { return false }
                followsSpace = true
            case UInt8(ascii: "\\"): return false
            case 0x21...0x7E: followsSpace = false
            default: return false
            }
        }
        return !followsSpace || raw.isEmpty
    }

    /// The beginning of a text, for a message: at most 40 scalars of it, and "…" if there is more.
    package static func excerpt(_ raw: String) -> String {
        let scalars = raw.unicodeScalars
        let beginning = DisplayText(String(String.UnicodeScalarView(scalars.prefix(40)))).text
        return scalars.dropFirst(40).isEmpty ? beginning : beginning + "…"
    }

    /// The text that a screen shows as `shown`; `nil` if it shows none like that.
    ///
    /// A terminal without UTF-8 shows the same text with all escaped that is not ASCII. At most one text has a given
    /// shown form, and a lone backslash is in none.
    package static func raw(of shown: String) -> String? {
        var raw = ""
        var rest = shown.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                raw += String(scalar)
                continue
            }
            guard let escaped = unescaped(&rest) else { return nil }
            raw += String(escaped)
        }
        let text = DisplayText(raw).text
        return text.utf8.elementsEqual(shown.utf8) || inASCII(text).utf8.elementsEqual(shown.utf8) ? raw : nil
    }

    /// A shown text as a terminal without UTF-8 shows it.
    private static func inASCII(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") {
            $0 += ($1.isASCII ? DisplayForm.plain : DisplayForm.hostile).written($1)
        }
    }

    /// Reads an escape after its backslash.
    private static func unescaped(_ rest: inout Substring.UnicodeScalarView) -> Unicode.Scalar? {
        let kind = rest.popFirst()
        if kind == "\\" { return kind }
        guard kind == "u", rest.popFirst() == "{" else { return nil }
        let digits = rest.prefix(6).prefix { $0 != "}" }
        rest = rest.dropFirst(digits.count)
        guard rest.popFirst() == "}" else { return nil }
        return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
    }
}
