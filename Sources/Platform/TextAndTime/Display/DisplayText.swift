/// Text from outside in a form that is safe to show: one line that reads as what it is.
///
/// Scalars that could hide, reorder or forge text are written as `\u{202E}`, a backslash as `\\`. Every escape begins
/// with a backslash and no other backslash is left. Escapes therefore never make different texts look the same, and the
/// raw text can be read back. A space that begins or ends the text or follows another space is written as `\u{20}`.
///
/// Joiners, variation selectors, keycaps, U+3000, U+202F and U+00A0 are shown without an escape only in places where a
/// script or an emoji requires them.
package struct DisplayText: Sendable {
    /// The text to show: at most 10 scalars for each scalar of the raw text.
    package let text: String
    /// Whether a scalar that can mislead was escaped: any scalar except spaces and backslashes.
    package let hasEscapes: Bool

    package init(_ raw: String) {
        guard !Self.isPlain(raw) else {
            text = raw
            hasEscapes = false
            return
        }
        // Not a view of scalars: each append to one copies all that it already contains.
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

    /// Returns whether the text needs no escape: visible ASCII and single spaces, without a backslash.
    ///
    /// Spaces must be between two visible characters. Most texts are of this kind and need no closer look.
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

    /// Returns the beginning of a text for a message: at most 40 scalars, and "…" if there are more.
    package static func excerpt(_ raw: String) -> String {
        let scalars = raw.unicodeScalars
        let beginning = DisplayText(String(String.UnicodeScalarView(scalars.prefix(40)))).text
        return scalars.dropFirst(40).isEmpty ? beginning : beginning + "…"
    }

    /// Returns the raw text that a screen shows as `shown`, or `nil` if no text is shown in that form.
    ///
    /// A terminal without UTF-8 shows the same text with an escape for each scalar that is not ASCII. At most one text
    /// has a given shown form, and no shown form has a lone backslash.
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

    /// Returns a shown text as a terminal without UTF-8 shows it.
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
