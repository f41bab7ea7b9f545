/// A request on the screen: the agent's lines in the agent's order, with the most important lines set apart.
package enum RequestScreen {
    /// The agent pads its labels to this column.
    private static let valueColumn = 12

    /// The agent's lines without styles, empty for an empty text.
    package static func plainLines(_ text: String) -> [ScreenLine] {
        guard !text.isEmpty else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map {
            ScreenLine(String($0), indent: valueColumn)
        }
    }

    static func lines(_ request: ShownRequest) -> [ScreenLine] {
        var lines = [.blank, ScreenLine("Request \(request.id)", .faint, indent: 2)]
        if let ahead = request.testClock {
            lines.append(ScreenLine("The agent's clock is a test's, \(ahead) ahead.", .warning, indent: 2))
        }
        var last: ScreenLine.Style?
        for text in request.lines {
            let style = style(of: text)
            // A blank line separates styled lines from the others.
            if style != last, style != .normal || last != nil { lines.append(.blank) }
            lines.append(ScreenLine(text, style, indent: valueColumn))
            last = style
        }
        return lines + [.blank]
    }

    /// The style by the label; the agent's values cannot imitate a label.
    private static func style(of line: String) -> ScreenLine.Style {
        switch line.prefix(while: { $0 != ":" }) {
        case "Amount": .headline
        case "Warning": .warning
        default: .normal
        }
    }
}
