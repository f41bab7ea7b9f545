/// A request as it stands on the screen: the agent's lines in the agent's order, with what matters most set apart.
enum RequestScreen {
    /// The agent's labels are padded to this column.
    private static let valueColumn = 12

    static func lines(_ request: ShownRequest, _ traits: ScreenTraits) -> [ScreenLine] {
        var lines = [.blank, ScreenLine("Request \(request.id)", .faint, indent: 2), .blank]
        for line in request.lines {
            switch label(of: line) {
            case "Amount":
                lines += [ScreenLine(line, .headline, indent: valueColumn), .blank]
            case "Warning":
                let mark = traits.isPlain ? "" : "!! "
                lines.append(ScreenLine(mark + line, .warning, indent: valueColumn))
            default:
                lines.append(ScreenLine(line, indent: valueColumn))
            }
        }
        return lines + [.blank]
    }

    private static func label(of line: String) -> Substring { line.prefix { $0 != ":" } }
}
