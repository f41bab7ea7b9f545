/// Draws a diagram as SVG.
struct SVGDrawing {
    private static let width = 880
    private static let margin = 16
    private static let ground = "#ffffff"
    private static let name = TextFitting(size: 13, isBold: true)
    private static let small = TextFitting(size: 11)
    private static let heading = TextFitting(size: 17, isBold: true)
    private static let nameHeight = 17
    private static let smallHeight = 14

    private let diagram: SequenceDiagram
    private let spacing: LaneSpacing
    private let heads: [Int]
    /// The right end of the picture.
    private let right: Int
    private var elements: [String] = []
    /// The vertical position of the next element.
    private var y = margin

    init(_ diagram: SequenceDiagram) {
        self.diagram = diagram
        heads = diagram.parties.map { party in
            let texts = max(Self.name.width(of: party.name), Self.small.width(of: party.role))
            return min(texts + 16, Self.width / 4)
        }
        let times = diagram.steps.indices.compactMap(diagram.timeText).map(Self.small.width).max() ?? 0
        let start = Self.margin + times + 12
        spacing = LaneSpacing(
            heads: heads, wishes: diagram.steps.flatMap(Self.wishes), start: start,
            most: Self.width - start - Self.margin)
        let lanesEnd = (spacing.lanes.last ?? 0) + ((heads.last ?? 0) + 1) / 2 + Self.margin
        right = max(lanesEnd, 560)
        drawTitle()
        let top = drawHeads()
        for index in diagram.steps.indices { draw(index) }
        y += 6
        insertLanes(from: top, to: y)
        y += Self.margin
    }

    private static func wishes(_ step: SequenceDiagram.Step) -> [LaneSpacing.Wish] {
        [
            LaneSpacing.Wish(lanes: step.lanes, width: name.width(of: step.label)),
            LaneSpacing.Wish(lanes: step.lanes, width: min(small.widestItem(of: step.detail), 180)),
        ]
    }

    var text: String {
        let described = diagram.steps.map { "\(diagram.names(of: $0)): \($0.label)." }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(right) \(y)" width="\(right)" height="\(y)" \
            role="img" aria-labelledby="title desc">
              <title id="title">\(Self.escaped(diagram.title))</title>
              <desc id="desc">\(Self.escaped(described.joined(separator: " ")))</desc>
              <style>\(Self.style)  </style>
              <defs>
                <marker id="head" \(Self.marker)><path fill="#1f2328" d="M0 0 10 5 0 10z"/></marker>
                <marker id="ours-head" \(Self.marker)><path fill="#0969da" d="M0 0 10 5 0 10z"/></marker>
              </defs>
              <rect class="page" width="\(right)" height="\(y)"/>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    private static let marker =
        #"viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto""#

    private static let style = """

            .page { fill: \(ground); }
            text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
            .title { font-size: 17px; font-weight: 600; }
            .name { font-size: 13px; font-weight: 600; }
            .small { font-size: 11px; fill: #59636e; }
            .lane { stroke: #c5cdd6; }
            .head { fill: #f6f8fa; stroke: #afb8c1; }
            .head.ours { fill: #ddf4ff; stroke: #0969da; }
            .note { fill: #fff8c5; stroke: #d4a72c; }
            .ending.good { fill: #dafbe1; stroke: #1a7f37; }
            .ending.bad { fill: #ffebe9; stroke: #cf222e; }
            .ending.open { fill: #f6f8fa; stroke: #afb8c1; }
            .mask { fill: \(ground); }
            .pause { fill: #f6f8fa; stroke: #d0d7de; stroke-dasharray: 4 3; }
            .arrow { stroke: #1f2328; stroke-width: 1.4; marker-end: url(#head); }
            .arrow.ours { stroke: #0969da; marker-end: url(#ours-head); }
            .answer { stroke-dasharray: 5 3; }

        """

    // MARK: - The head

    private mutating func drawTitle() {
        let ending = drawEnding()
        for line in Self.heading.lines(diagram.title, width: right - 2 * Self.margin - ending, most: 2).texts {
            y += 18
            write(line, at: Self.margin, y, "title", anchor: nil)
            y += 5
        }
        for subtitle in diagram.subtitles {
            for line in Self.small.lines(subtitle, width: right - 2 * Self.margin, most: 2).texts {
                y += Self.smallHeight
                write(line, at: Self.margin, y, "small", anchor: nil)
                y += 2
            }
        }
        y += 14
    }

    /// Draws the ending at the right of the title, and returns the width that it takes.
    private mutating func drawEnding() -> Int {
        guard let ending = diagram.ending else { return 0 }
        let width = Self.name.width(of: ending.text) + 24
        let left = right - Self.margin - width
        elements.append(
            #"  <rect class="ending \#(ending.kind.rawValue)" x="\#(left)" y="\#(y)" width="\#(width)" height="24" rx="12"/>"#
        )
        write(ending.text, at: left + width / 2, y + 16, "name")
        return width + 12
    }

    /// Draws the heads, and returns the position where the lanes begin.
    private mutating func drawHeads() -> Int {
        for (index, party) in diagram.parties.enumerated() {
            let (x, width) = (spacing.lanes[index], heads[index])
            let kind = party.isHighlighted ? "head ours" : "head"
            elements.append(
                #"  <rect class="\#(kind)" x="\#(x - width / 2)" y="\#(y)" width="\#(width)" height="42" rx="5"/>"#)
            write(Self.name.cut(party.name, width: width - 10), at: x, y + 18, "name")
            write(Self.small.cut(party.role, width: width - 8), at: x, y + 34, "small")
        }
        y += 42
        defer { y += 8 }
        return y
    }

    /// Inserts the lanes below all drawn elements, which interrupt them where necessary.
    private mutating func insertLanes(from top: Int, to bottom: Int) {
        let lines = spacing.lanes.map {
            #"  <line class="lane" x1="\#($0)" y1="\#(top)" x2="\#($0)" y2="\#(bottom)"/>"#
        }
        elements.insert(contentsOf: lines, at: 0)
    }

    // MARK: - Steps

    private mutating func draw(_ index: Int) {
        if let pause = diagram.pause(before: index) { drawPause(pause) }
        let step = diagram.steps[index]
        if step.isNote {
            drawNote(step, time: diagram.timeText(index))
        } else {
            drawArrow(step, time: diagram.timeText(index))
        }
    }

    private mutating func drawPause(_ text: String) {
        let left = spacing.lanes[0] - heads[0] / 2
        let end = (spacing.lanes.last ?? 0) + (heads.last ?? 0) / 2
        y += 8
        elements.append(
            #"  <rect class="pause" x="\#(left)" y="\#(y)" width="\#(end - left)" height="24" rx="4"/>"#
        )
        write(text, at: (left + end) / 2, y + 16, "small")
        y += 32
    }

    private mutating func drawArrow(_ step: SequenceDiagram.Step, time: String?) {
        y += 6
        write(block: step.label, of: step, "name", Self.name, height: Self.nameHeight, most: 2)
        y += 6
        let isOurs = step.lanes.contains { diagram.parties[$0].isHighlighted && ($0 == step.from || $0 == step.to) }
        let kind = "arrow" + (isOurs ? " ours" : "") + (step.isAnswer ? " answer" : "")
        let (start, end) = (spacing.lanes[step.from], spacing.lanes[step.to])
        let tip = end + (start < end ? -1 : 1)
        elements.append(#"  <line class="\#(kind)" x1="\#(start)" y1="\#(y)" x2="\#(tip)" y2="\#(y)"/>"#)
        if let time { write(time, at: Self.margin, y + 4, "small", anchor: nil) }
        y += 3
        if let detail = step.detail {
            write(block: detail, of: step, "small", Self.small, height: Self.smallHeight, most: 6)
        }
        y += 8
    }

    /// Writes a text between lanes, from `y` down.
    private mutating func write(
        block text: String, of step: SequenceDiagram.Step, _ kind: String, _ font: TextFitting, height: Int, most: Int
    ) {
        let lines = spacing.lines(text, across: step.lanes, most: most, in: font)
        let width = lines.map(font.width).max() ?? 0
        let place = spacing.place(width: width, from: step.from, to: step.to)
        if place.isOverLanes {
            let left = place.middle - width / 2 - 3
            elements.append(
                #"  <rect class="mask" x="\#(left)" y="\#(y + 2)" width="\#(width + 6)" height="\#(lines.count * height)"/>"#
            )
        }
        for line in lines {
            y += height
            write(line, at: place.middle, y - 3, kind)
        }
    }

    private mutating func drawNote(_ step: SequenceDiagram.Step, time: String?) {
        let ends = (spacing.lanes[0] - heads[0] / 2)...(right - Self.margin)
        let room = spacing.room(forNoteOn: step.from, within: ends)
        let inside = max(48, min(room.count, 260) - 16)
        let labels = Self.name.balanced(inside) { Self.name.lines(step.label, width: $0, most: 2) }
        let details = Self.small.balanced(inside) { Self.small.items(step.detail ?? "", width: $0, most: 6) }
        let width = max(labels.map(Self.name.width).max() ?? 0, details.map(Self.small.width).max() ?? 0) + 16
        let height = labels.count * Self.nameHeight + details.count * Self.smallHeight + 10
        let x = spacing.start(ofNoteOn: step.from, width: width, in: room) + width / 2
        y += 6
        elements.append(
            #"  <rect class="note" x="\#(x - width / 2)" y="\#(y)" width="\#(width)" height="\#(height)" rx="3"/>"#)
        if let time { write(time, at: Self.margin, y + 16, "small", anchor: nil) }
        y += 4
        for line in labels {
            y += Self.nameHeight
            write(line, at: x, y - 4, "name")
        }
        for line in details {
            y += Self.smallHeight
            write(line, at: x, y - 3, "small")
        }
        y += 12
    }

    // MARK: - Text

    private mutating func write(_ text: String, at x: Int, _ y: Int, _ kind: String, anchor: String? = "middle") {
        let anchored = anchor.map { #" text-anchor="\#($0)""# } ?? ""
        elements.append(#"  <text class="\#(kind)" x="\#(x)" y="\#(y)"\#(anchored)>\#(Self.escaped(text))</text>"#)
    }

    /// Escapes text for XML, by scalars.
    ///
    /// A character and a following combining mark are one Character, but XML still reads the first scalar by itself.
    /// Control characters, which XML cannot contain, were replaced when the diagram was made.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
