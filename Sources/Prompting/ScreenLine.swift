/// A line of text and how it stands out.
package struct ScreenLine: Sendable, Equatable {
    package enum Style: Sendable, Equatable {
        case normal, faint, strong
        /// The amount: what is seen first.
        case headline
        case warning
    }

    package let text: String
    package let style: Style
    /// The columns that the rest of a line begins at where it is wrapped.
    package let indent: Int

    package init(_ text: String, _ style: Style = .normal, indent: Int = 0) {
        self.text = text
        self.style = style
        self.indent = indent
    }

    static let blank = ScreenLine("")

    /// Rows of at most that many columns, nothing left out: they break at spaces, and inside words that are longer.
    func rows(_ traits: ScreenTraits) -> [String] {
        let columns = traits.columns - 1
        let indent = self.indent * 2 <= columns ? self.indent : 2
        var rows: [String] = []
        var rest = Substring(Glyphs.fit(text, isUTF8: traits.isUTF8))
        while true {
            let margin = rows.isEmpty ? 0 : indent
            let (row, remaining) = Self.split(rest, at: columns - margin)
            rows.append(String(repeating: " ", count: margin) + row)
            guard let remaining else { return rows }
            rest = remaining
        }
    }

    /// What fits into that many columns, and what is left; nil where nothing is.
    private static func split(_ text: Substring, at columns: Int) -> (row: Substring, rest: Substring?) {
        var (used, end) = (0, text.startIndex)
        var lastSpace: Substring.Index?
        let scalars = text.unicodeScalars
        while end < text.endIndex {
            used += Glyphs.width(scalars[end])
            // One scalar at least, lest it goes on for ever.
            if used > columns, end > text.startIndex {
                guard let lastSpace, lastSpace > text.startIndex else { return (text[..<end], text[end...]) }
                return (text[..<lastSpace], text[scalars.index(after: lastSpace)...])
            }
            if scalars[end] == " ", end > text.startIndex { lastSpace = end }
            end = scalars.index(after: end)
        }
        return (text, nil)
    }
}
