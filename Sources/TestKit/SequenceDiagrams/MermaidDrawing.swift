/// Writes a diagram in the language of Mermaid, which forges draw in Markdown.
struct MermaidDrawing {
    let diagram: SequenceDiagram

    /// The text, without a line feed at its end.
    var text: String {
        let all = "Note over p0" + (diagram.parties.count > 1 ? ",p\(diagram.parties.count - 1)" : "")
        let heading = [diagram.title] + diagram.subtitles + (diagram.ending.map { [$0.text] } ?? [])
        var lines = [#"%%{init: {"sequence": {"wrap": true}}}%%"#, "sequenceDiagram"]
        lines += diagram.parties.enumerated().map { "participant p\($0.offset) as \(Self.escaped($0.element.name))" }
        lines.append("\(all): \(heading.map(Self.escaped).joined(separator: "<br/>"))")
        for (index, step) in diagram.steps.enumerated() {
            if let pause = diagram.pause(before: index) { lines.append("\(all): \(Self.escaped(pause))") }
            let arrow = "p\(step.from)\(step.isAnswer ? "-->>" : "->>")p\(step.to)"
            let texts = [diagram.timeText(index), step.label, step.detail].compactMap(\.self)
            let text = texts.map(Self.escaped).joined(separator: "<br/>")
            lines.append("\(step.isNote ? "Note over p\(step.from)" : arrow): \(text)")
        }
        return lines.joined(separator: "\n")
    }

    /// Escapes each character with a meaning in Mermaid, HTML or Markdown in Mermaid's form, such as `#38;`.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            let isPlain = scalar.properties.isAlphabetic || "0"..."9" ~= scalar || plain.contains(scalar)
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "#\(scalar.value);" }
        }
    }

    private static let plain = Set(" .,-_/()".unicodeScalars)
}
