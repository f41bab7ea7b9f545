internal import Control

/// Rows under a heading, for people; cells are escaped for the terminal.
package struct Table {
    /// A column, and the way to narrow it on a terminal.
    package struct Column {
        package enum Kind {
            /// Never narrowed.
            case whole
            /// An ID: cut to a prefix that is unique in the table, which the agent accepts as well.
            case id
            /// Text that may wrap.
            case text
            /// A name chosen by another party: wraps, and is cut to 60 columns even if rows may have any length.
            case name
        }

        let heading: String
        let kind: Kind

        package init(_ heading: String, _ kind: Kind = .whole) { (self.heading, self.kind) = (heading, kind) }
    }

    private static let fewestIDCharacters = 8
    private static let narrowestText = 8
    private static let widestName = 60
    private static let gap = 2

    private let kinds: [Column.Kind]
    private let rows: [[String]]

    package init(heading: [Column], rows: [[String]]) {
        let kinds = heading.map(\.kind)
        self.kinds = kinds
        self.rows = [heading.map(\.heading)] + rows
    }

    /// The lines of the table, empty if there are no rows.
    ///
    /// - Parameters:
    ///   - columns: the width of the terminal. `nil` for other output: then each row is one line of any length.
    ///   - isUTF8: whether the terminal shows more than ASCII. Widths are those of the escaped text.
    package func lines(_ columns: Int?, isUTF8: Bool = true) -> [ScreenLine] {
        let rows = rows.map { row in zip(row, kinds).map { Self.cell($0, $1, isUTF8: isUTF8) } }
        guard rows.count > 1 else { return [] }
        guard let columns, total(Self.widths(rows)) > columns - 1 else { return Self.lines(of: rows) }
        let cut = Self.transposed(zip(Self.transposed(rows), kinds).map { $1 == .id ? Self.shortened($0) : $0 })
        let widths = fitted(Self.widths(cut), to: columns - 1)
        return Self.lines(of: cut.flatMap { Self.wrapped($0, widths) })
    }

    private static func cell(_ raw: String, _ kind: Column.Kind, isUTF8: Bool) -> String {
        let text = Glyphs.fit(TerminalText.escaped(raw), isUTF8: isUTF8)
        guard kind == .name, TerminalText.columns(text) > widestName else { return text }
        let end = isUTF8 ? "…" : "..."
        return String(beginning(of: text[...], upTo: widestName - end.count)) + end
    }

    /// The longest prefix within `columns`, but at least one scalar, with the marks and joiners on it.
    ///
    /// It ends between two characters, such as flags of two scalars each, unless the first character is wider than
    /// that.
    private static func beginning(of text: Substring, upTo columns: Int) -> Substring {
        let scalars = text.unicodeScalars
        var (end, used, previous) = (text.startIndex, 0, Unicode.Scalar?.none)
        while end < text.endIndex {
            used += TerminalText.columns(scalars[end], after: previous)
            if used > columns, previous != nil { break }
            previous = scalars[end]
            end = scalars.index(after: end)
        }
        let boundary = text.indices.prefix { $0 <= end }.last ?? end
        return text[..<(end < text.endIndex && boundary > text.startIndex ? boundary : end)]
    }

    private func total(_ widths: [Int]) -> Int { widths.reduce(Self.gap * (widths.count - 1), +) }

    /// Narrows the text columns, the widest first, until the table fits or no column can be narrower.
    private func fitted(_ widths: [Int], to columns: Int) -> [Int] {
        var widths = widths
        while total(widths) > columns {
            let texts = widths.indices.filter {
                (kinds[$0] == .text || kinds[$0] == .name) && widths[$0] > Self.narrowestText
            }
            guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { return widths }
            widths[widest] -= 1
        }
        return widths
    }

    /// A column of IDs, cut to the shortest length that keeps them unique.
    private static func shortened(_ column: [String]) -> [String] {
        let ids = Set(column.dropFirst())
        let longest = ids.map(\.count).max() ?? 0
        var count = min(fewestIDCharacters, longest)
        while count < longest, Set(ids.map { $0.prefix(count) }).count < ids.count { count += 1 }
        return column.prefix(1) + column.dropFirst().map { String($0.prefix(count)) }
    }

    /// A row of cells as several rows of the screen, so that no cell is wider than its column.
    private static func wrapped(_ row: [String], _ widths: [Int]) -> [[String]] {
        let cells = zip(row, widths).map { cell, width in pieces(of: cell, upTo: width) }
        let height = cells.map(\.count).max() ?? 1
        return (0..<height).map { index in cells.map { $0.count > index ? $0[index] : "" } }
    }

    /// The parts of a cell, broken at spaces if possible.
    private static func pieces(of cell: String, upTo width: Int) -> [String] {
        var (pieces, rest) = ([String](), Substring(cell))
        while TerminalText.columns(rest) > width {
            let fitting = beginning(of: rest, upTo: width).endIndex
            guard fitting < rest.endIndex else { break }
            // A space right after the prefix is a good break too.
            let space = rest.unicodeScalars[fitting] == " " ? fitting : rest[..<fitting].lastIndex(of: " ")
            let end = space.flatMap { $0 > rest.startIndex ? $0 : nil } ?? fitting
            pieces.append(String(rest[..<end]))
            rest = rest[end...]
            if rest.first == " " { rest.removeFirst() }
        }
        return pieces + [String(rest)]
    }

    private static func widths(_ rows: [[String]]) -> [Int] {
        transposed(rows).map { $0.map { TerminalText.columns($0) }.max() ?? 0 }
    }

    private static func transposed(_ rows: [[String]]) -> [[String]] {
        (rows.first ?? []).indices.map { column in rows.map { $0[column] } }
    }

    private static func lines(of rows: [[String]]) -> [ScreenLine] {
        let widths = widths(rows)
        return rows.map { ScreenLine(line($0, widths), indent: 4) }
    }

    /// Joins the cells, without trailing spaces.
    private static func line(_ row: [String], _ widths: [Int]) -> String {
        let last = row.lastIndex { !$0.isEmpty } ?? 0
        let cells = row.prefix(last + 1).enumerated().map { column, cell in
            column == last
                ? cell : cell + String(repeating: " ", count: widths[column] - TerminalText.columns(cell))
        }
        return cells.joined(separator: String(repeating: " ", count: gap))
    }
}

/// Lines of `name: value`, for people; values are escaped for the terminal, and absent ones left out.
package struct Fields {
    package let lines: [ScreenLine]

    package init(_ fields: [(name: String, value: String?)]) {
        lines = fields.compactMap { field in
            field.value.map { ScreenLine("\(field.name): \(TerminalText.escaped($0))", indent: 4) }
        }
    }
}
