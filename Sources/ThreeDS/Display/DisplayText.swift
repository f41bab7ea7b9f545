/// Text from outside, made fit to be shown: one line that reads as what it is.
///
/// Scalars that could hide, reorder or forge text are written as `\u{202E}`, a backslash as `\\`. Every escape begins
/// with a backslash and no other backslash is left, so different texts never look the same by an escape, and the raw
/// text can be read back. A space that begins or ends the text or follows another space is written as `\u{20}`.
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
        var context = Context()
        var rest = raw.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let form = context.form(of: scalar, isLast: rest.isEmpty)
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
}

/// How one scalar is written.
private enum Form {
    case plain, escapedSpace, escapedBackslash, hostile

    func written(_ scalar: Unicode.Scalar) -> String {
        switch self {
        case .plain: String(scalar)
        case .escapedBackslash: #"\\"#
        case .escapedSpace, .hostile: #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
}

/// What is before a scalar, as far as it matters to how the scalar is written.
private struct Context {
    /// More marks on one character are a pile that reaches into other lines; no name needs them.
    static let marksInARow = 4

    private var followsSpace = true
    private var canTakeMark = false
    private var marks = 0

    func form(of scalar: Unicode.Scalar, isLast: Bool) -> Form {
        if scalar == " " { return followsSpace || isLast ? .escapedSpace : .plain }
        if scalar == "\\" { return .escapedBackslash }
        guard !scalar.isUnfitToShow else { return .hostile }
        // A mark at the beginning would combine with the label, one after an escape on its brace.
        guard !scalar.isCombiningMark || (canTakeMark && marks < Self.marksInARow) else { return .hostile }
        return .plain
    }

    mutating func advance(past scalar: Unicode.Scalar, as form: Form) {
        followsSpace = scalar == " "
        canTakeMark = form == .plain
        marks = scalar.isCombiningMark ? marks + 1 : 0
    }
}
