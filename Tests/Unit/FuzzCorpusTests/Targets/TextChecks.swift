import FoundationEssentials
import TextAndTime
import ThreeDS

/// Text that is shown, expected or opened.
enum TextChecks {
    static func displayText(_ input: [UInt8]) throws {
        let raw = input.text
        let shown = DisplayText(raw)
        try mustHold(shown.text.unicodeScalars.count <= 10 * raw.unicodeScalars.count, "10 scalars for one at most")
        try mustHold(unescaped(shown.text).utf8.elementsEqual(raw.utf8), "the raw text can be read back")
        let copied = DisplayText.raw(of: shown.text)
        try mustHold(copied?.utf8.elementsEqual(raw.utf8) == true, "a copy of it means the same")
        if let other = DisplayText.raw(of: raw) {
            // A terminal without UTF-8 shows ASCII only.
            let isAsShown = DisplayText(other).text.utf8.elementsEqual(raw.utf8)
            try mustHold(isAsShown || raw.utf8.allSatisfy { $0 < 0x80 }, "a text is shown for one text only")
        }
        try mustBeFitToShow(shown.text)
        let isPlain = raw.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F }
        try mustHold(!isPlain || !shown.hasEscapes, "plain ASCII is not hostile")
        try mustBeOneLine(DisplayText.excerpt(raw), "an excerpt")
    }

    static func expectedAmount(_ input: [UInt8]) throws {
        guard let amount = try? ExpectedAmount(input.text) else { return }
        try mustHold(try ExpectedAmount(amount.description) == amount, "an amount is itself without groups")
        let isPlain = amount.description.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        try mustHold(isPlain && amount.description.utf8.count <= 54, "an amount is short and plain")
    }

    /// Held against the standard library's own reading of URLs.
    static func appURL(_ input: [UInt8]) throws {
        guard let url = try? ThreeDSRequestorAppURL(input.text) else { return }
        try mustHold(url.text.utf8.elementsEqual(input), "a URL is kept byte for byte")
        try mustHold(input.count <= 256 && input.allSatisfy { (0x21...0x7E).contains($0) }, "it is short and plain")
        guard let parts = URLComponents(string: url.text) else { return }
        try mustHold(parts.user == nil && parts.password == nil, "it has no user and no password")
        let scheme = parts.scheme?.lowercased() ?? ""
        try mustHold(
            !["javascript", "data", "file", "vbscript", "blob", "about"].contains(scheme), "its scheme is allowed")
    }

    /// What no terminal and no reader takes for anything but what it is.
    static func mustBeFitToShow(_ text: String) throws(Broken) {
        var marks = 0
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let before = index == 0 ? nil : scalars[index - 1]
            let after = index + 1 < scalars.count ? scalars[index + 1] : nil
            switch (scalar, scalar.properties.generalCategory) {
            case ("\u{200C}", _), ("\u{200D}", _), ("\u{FE0F}", _):
                try mustHold(before.map { $0.value > 0x7F && !isSpace($0) } == true, "a joiner is on a letter or emoji")
                try mustHold(before != "\u{200C}" && before != "\u{200D}", "no joiner is on a joiner")
                marks += 1
            case ("\u{3000}", _), ("\u{202F}", _):
                try mustHold(before.map { !isSpace($0) } == true, "a space is after a word")
                try mustHold(after.map { !isSpace($0) } == true, "a space is before a word")
                marks = 0
            case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator), (_, .unassigned),
                (_, .privateUse), (_, .surrogate), (_, .enclosingMark):
                throw Broken(description: "U+\(String(scalar.value, radix: 16)) is not shown")
            case (_, .spaceSeparator):
                try mustHold(scalar == " ", "a space is the space")
                marks = 0
            case (_, .nonspacingMark), (_, .spacingMark):
                try mustHold(!scalar.properties.isDefaultIgnorableCodePoint, "nothing invisible is shown")
                marks += 1
            default:
                try mustHold(!scalar.properties.isDefaultIgnorableCodePoint, "nothing invisible is shown")
                marks = 0
            }
            try mustHold(marks <= 4, "no pile of marks is shown")
        }
        try mustHold(!text.utf8.elementsEqual(" ".utf8), "no line is blank")
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .spaceSeparator
    }

    /// `\\` and `\u{…}` made what they stand for.
    private static func unescaped(_ shown: String) -> String {
        var raw = String.UnicodeScalarView()
        var rest = shown.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let kind = rest.popFirst(), kind == "u" else {
                raw.append(scalar)
                continue
            }
            let digits = String(rest.prefix { $0 != "}" }.dropFirst())
            rest = rest.drop { $0 != "}" }.dropFirst()
            raw.append(UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) ?? "?")
        }
        return String(raw)
    }
}
