internal import Control

extension [ScreenLine] {
    /// The lines of all blocks that are not empty, with a blank line between two blocks.
    package static func blocks(_ blocks: [[ScreenLine]]) -> [ScreenLine] {
        [ScreenLine](blocks.filter { !$0.isEmpty }.joined(separator: [ScreenLine.blank]))
    }
}

/// A line of text and its style.
package struct ScreenLine: Sendable, Equatable {
    package enum Style: Sendable, Equatable {
        case normal, faint, strong
        /// The amount: the most prominent line.
        case headline
        case warning
    }

    package let text: String
    package let style: Style
    /// The column where the further rows of a wrapped line begin.
    package let indent: Int

    package init(_ text: String, _ style: Style = .normal, indent: Int = 0) {
        self.text = text
        self.style = style
        self.indent = indent
    }

    static let blank = ScreenLine("")

    /// Wraps the line, without leaving text out; breaks at spaces, and inside words that fit no row.
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
            // The space at the break.
            if rest.first == " " { rest.removeFirst() }
        } while !rest.isEmpty
        return rows
    }

    /// The end of a row that contains as much of the text as fits.
    ///
    /// - Parameter next: the columns of the next row.
    private static func end(ofRow text: Substring, columns: Int, next: Int) -> Substring.Index {
        let scalars = text.unicodeScalars
        var (used, end) = (0, text.startIndex)
        var previous: Unicode.Scalar?
        while end < text.endIndex {
            used += TerminalText.columns(scalars[end], after: previous)
            previous = scalars[end]
            // At least one scalar, so that the loop ends.
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
