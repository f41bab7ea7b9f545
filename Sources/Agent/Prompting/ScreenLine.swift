internal import Control

extension [ScreenLine] {
    /// Those of all blocks that have any, with a blank line between two.
    package static func blocks(_ blocks: [[ScreenLine]]) -> [ScreenLine] {
        [ScreenLine](blocks.filter { !$0.isEmpty }.joined(separator: [ScreenLine.blank]))
    }
}

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
    /// The columns that the rest of a line begins at if it is wrapped.
    package let indent: Int

    package init(_ text: String, _ style: Style = .normal, indent: Int = 0) {
        self.text = text
        self.style = style
        self.indent = indent
    }

    static let blank = ScreenLine("")

    /// Rows of at most that many columns, nothing left out: they break at spaces, and inside words that fit no row.
    package func rows(_ traits: ScreenTraits) -> [String] {
        let columns = traits.columns - 1
        let indent = self.indent * 2 <= columns ? self.indent : 2
        var rows: [String] = []
        var rest = Substring(Glyphs.fit(text, isUTF8: traits.isUTF8))
        repeat {
            let margin = rows.isEmpty ? 0 : indent
            let end = Self.end(ofRow: rest, columns: columns - margin, next: columns - indent)
            rows.append(String(repeating: " ", count: margin) + rest[..<end])
            rest = rest[end...]
            // The space that a row was broken at.
            if rest.first == " " { rest.removeFirst() }
        } while !rest.isEmpty
        return rows
    }

    /// Where a row ends that takes as much of a text as fits.
    ///
    /// - Parameter next: the columns of the row after it.
    private static func end(ofRow text: Substring, columns: Int, next: Int) -> Substring.Index {
        let scalars = text.unicodeScalars
        var (used, end) = (0, text.startIndex)
        var previous: Unicode.Scalar?
        while end < text.endIndex {
            used += TerminalText.columns(scalars[end], after: previous)
            previous = scalars[end]
            // At least one scalar, so that it does not go on for ever.
            if used > columns, end > text.startIndex { break }
            end = scalars.index(after: end)
        }
        guard end < text.endIndex, scalars[end] != " ",
            let space = text[..<end].lastIndex(of: " "), space > text.startIndex
        else { return end }
        let word = text[scalars.index(after: space)...].prefix { $0 != " " }
        return TerminalText.columns(word) <= next ? space : end
    }
}
