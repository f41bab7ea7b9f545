/// Draws a diagram for a terminal.
struct TextDrawing {
    private static let width = 100
    private static let font = TextFitting.columns

    private let diagram: SequenceDiagram
    private let spacing: LaneSpacing
    private var lines: [TextRow] = []

    var text: String { lines.map(\.text).joined(separator: "\n") }

    init(_ diagram: SequenceDiagram) {
        self.diagram = diagram
        let most = Self.width / diagram.parties.count - 3
        let names = diagram.parties.map { Self.font.cut($0.name, width: max(1, most)) }
        let times = diagram.steps.indices.compactMap(diagram.timeText).map(Self.font.width).max() ?? 0
        spacing = LaneSpacing(
            heads: names.map(Self.font.width), between: 2, usual: 20, wishes: diagram.steps.flatMap(Self.wishes),
            padding: 1,
            start: times + 2, most: Self.width - times - 2)
        for title in [diagram.title] + diagram.subtitles {
            lines += Self.font.lines(title, width: Self.width, most: 2).texts.map { TextRow($0) }
        }
        lines.append(TextRow(""))
        var heads = TextRow("")
        for (name, lane) in zip(names, spacing.lanes) { heads.write(name, middle: lane, font: Self.font) }
        lines.append(heads)
        for index in diagram.steps.indices { draw(index) }
        lines.append(lanes)
    }

    private static func wishes(_ step: SequenceDiagram.Step) -> [LaneSpacing.Wish] {
        [
            LaneSpacing.Wish(lanes: step.lanes, width: font.width(of: step.label)),
            LaneSpacing.Wish(lanes: step.lanes, width: min(font.widestItem(of: step.detail), 26)),
        ]
    }

    /// A line with nothing but the lanes.
    private var lanes: TextRow {
        var row = TextRow("")
        for lane in spacing.lanes { row.write("│", at: lane, font: Self.font) }
        return row
    }

    private mutating func draw(_ index: Int) {
        let step = diagram.steps[index]
        if let pause = diagram.pause(before: index) { drawPause(pause) }
        lines.append(lanes)
        if step.isNote {
            drawNote(step, time: diagram.timeText(index))
        } else {
            lines += block(step.label, of: step, most: 2)
            lines.append(arrow(step, time: diagram.timeText(index)))
            lines += step.detail.map { block($0, of: step, most: 6) } ?? []
        }
    }

    private mutating func drawPause(_ text: String) {
        var row = TextRow("")
        let (first, last) = (spacing.lanes[0], spacing.lanes[spacing.lanes.count - 1])
        for column in first...last { row.write("╌", at: column, font: Self.font) }
        // Over lanes that are as far apart as a text, it is a part of the line.
        row.write(" \(text) ", middle: (first + last) / 2, font: Self.font)
        lines += [lanes, row]
    }

    private func arrow(_ step: SequenceDiagram.Step, time: String?) -> TextRow {
        var row = lanes
        if let time { row.write(time, at: 0, font: Self.font) }
        let (from, to) = (spacing.lanes[step.from], spacing.lanes[step.to])
        let shaft = step.isAnswer ? "╌" : "─"
        for column in (min(from, to) + 1)..<max(from, to) { row.write(shaft, at: column, font: Self.font) }
        row.write(from < to ? "▶" : "◀", at: from < to ? to - 1 : to + 1, font: Self.font)
        return row
    }

    private func block(_ text: String, of step: SequenceDiagram.Step, most: Int) -> [TextRow] {
        let parts = spacing.lines(text, across: step.lanes, most: most, in: Self.font)
        let width = parts.map(Self.font.width).max() ?? 0
        let place = spacing.place(width: width, from: step.from, to: step.to)
        return parts.map { part in
            var row = lanes
            if place.isOverLanes {
                row.write(String(repeating: " ", count: width + 2), middle: place.middle, font: Self.font)
            }
            row.write(part, middle: place.middle, font: Self.font)
            return row
        }
    }

    private mutating func drawNote(_ step: SequenceDiagram.Step, time: String?) {
        // At the left end a note goes into the column of times, except in its own line.
        let room = spacing.room(forNoteOn: step.from, within: max(0, spacing.lanes[0] - 12)...Self.width)
        let inside = max(6, min(room.count, 44) - 4)
        let parts =
            Self.font.balanced(inside) { Self.font.lines(step.label, width: $0, most: 2) }
            + Self.font.balanced(inside) { Self.font.items(step.detail ?? "", width: $0, most: 6) }
        let width = parts.map(Self.font.width).max() ?? 0
        let left = spacing.start(ofNoteOn: step.from, width: width + 4, in: room)
        var rows: [TextRow] = []
        let rule = String(repeating: "─", count: width + 2)
        for part in ["┌\(rule)┐"] + parts.map({ "│ \(Self.padded($0, width)) │" }) + ["└\(rule)┘"] {
            var row = lanes
            row.write(part, at: left, font: Self.font)
            rows.append(row)
        }
        if let time { rows[0].write(time, at: 0, font: Self.font) }
        lines += rows
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - font.width(of: text)))
    }
}

/// One line of columns, written in any order.
private struct TextRow {
    /// What begins in each column; nothing in one that a wide character before it covers.
    private var cells: [String] = []

    init(_ text: String) { write(text, at: 0, font: .columns) }

    mutating func write(_ text: String, middle: Int, font: TextFitting) {
        write(text, at: max(0, middle - font.width(of: text) / 2), font: font)
    }

    mutating func write(_ text: String, at column: Int, font: TextFitting) {
        var column = column
        for character in text {
            let width = font.width(character)
            while cells.count < column + max(1, width) { cells.append(" ") }
            guard width > 0 else { continue }
            cells[column] = String(character)
            for covered in (column + 1)..<max(column + 1, column + width) { cells[covered] = "" }
            column += width
        }
    }

    var text: String {
        var text = cells.joined()
        while text.last == " " { text.removeLast() }
        return text
    }
}
