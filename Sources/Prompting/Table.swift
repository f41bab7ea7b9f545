import Control
import Prompting

/// Rows under a heading, for people; cells are escaped for the terminal.
struct Table {
    private let rows: [[String]]

    init(heading: [String], rows: [[String]]) {
        self.rows = [heading] + rows.map { $0.map(TerminalText.escaped) }
    }

    /// A line a row; empty without rows.
    var lines: [ScreenLine] {
        guard rows.count > 1 else { return [] }
        let widths = rows.reduce(into: [Int]()) { widths, row in
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { ScreenLine(Self.line($0, widths), indent: 4) }
    }

    private static func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
        }
        return cells.joined(separator: "  ")
    }
}

/// Lines of `name: value`, for people; values are escaped for the terminal, absent ones left out.
struct Fields {
    let lines: [ScreenLine]

    init(_ fields: [(name: String, value: String?)]) {
        lines = fields.compactMap { field in
            field.value.map { ScreenLine("\(field.name): \(TerminalText.escaped($0))", indent: 4) }
        }
    }
}
