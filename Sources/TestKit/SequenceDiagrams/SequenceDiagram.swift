import TextAndTime

/// A diagram of messages: parties are lanes from left to right, steps go from top to bottom.
///
/// Its texts may come from any source: the initializers bound them and make them safe to show. Equal values are always
/// drawn as the same bytes.
package struct SequenceDiagram: Sendable, Equatable {
    /// A party, which is a lane of the diagram.
    package struct Party: Sendable, Equatable {
        package let name: String
        /// The role in a few words; only SVG shows it.
        package let role: String
        /// Whether its lane, and the arrows that touch it, are highlighted.
        package let isHighlighted: Bool

        package init(_ name: String, role: String, isHighlighted: Bool = false) {
            self.name = SequenceDiagram.shown(name, most: 40)
            self.role = SequenceDiagram.shown(role, most: 40)
            self.isHighlighted = isHighlighted
        }
    }

    /// A step: an arrow, or a note if it goes from a party to itself.
    package struct Step: Sendable, Equatable {
        /// The time in seconds since 1970, within the years 1970 to 9999.
        package let at: Int64
        /// The index of the party in the order of the lanes.
        package let from, to: Int
        package let label: String
        package let detail: String?
        /// Whether to draw a dashed arrow.
        package let isAnswer: Bool

        package init(at: Int64, from: Int, to: Int, label: String, detail: String? = nil, isAnswer: Bool = false) {
            self.at = min(max(at, 0), SequenceDiagram.lastSecond)
            (self.from, self.to, self.isAnswer) = (from, to, isAnswer)
            self.label = SequenceDiagram.shown(label, most: 80)
            self.detail = detail.map { SequenceDiagram.shown($0, most: 400) }
        }

        var isNote: Bool { from == to }
        var lanes: ClosedRange<Int> { min(from, to)...max(from, to) }
    }

    /// The final state in one word, with a colour in SVG.
    package struct Ending: Sendable, Equatable {
        package enum Kind: String, Sendable { case good, bad, open }

        package let text: String
        package let kind: Kind

        package init(_ text: String, _ kind: Kind) {
            self.text = SequenceDiagram.shown(text, most: 30)
            self.kind = kind
        }
    }

    /// The limit of steps.
    package static let maxSteps = 1_000

    private static let lastSecond: Int64 = 253_402_300_799

    package let title: String
    /// The lines below the title.
    package let subtitles: [String]
    package let ending: Ending?
    package let parties: [Party]
    package let steps: [Step]

    /// - Returns: `nil` without a party, if a step refers to a missing party, or for more than ``maxSteps``.
    package init?(
        title: String, subtitles: [String] = [], ending: Ending? = nil, parties: [Party], steps: [Step]
    ) {
        guard !parties.isEmpty, steps.count <= Self.maxSteps else { return nil }
        guard steps.allSatisfy({ parties.indices.contains($0.from) && parties.indices.contains($0.to) }) else {
            return nil
        }
        self.title = Self.shown(title, most: 120)
        self.subtitles = subtitles.map { Self.shown($0, most: 200) }
        (self.ending, self.parties, self.steps) = (ending, parties, steps)
    }

    /// The title and one line for each step with its time, safe to print, without a line feed at the end.
    package var list: String {
        let lines = steps.indices.map { index in
            let (step, time) = (steps[index], Self.passed(steps[index].at - steps[0].at))
            return "\(time)  \(names(of: step)): \(step.label)" + (step.detail.map { " (\($0))" } ?? "")
        }
        return ([title] + subtitles + lines).joined(separator: "\n")
    }

    /// A `sequenceDiagram` of Mermaid, without a line feed at its end; all texts are escaped.
    package var mermaid: String { MermaidDrawing(diagram: self).text }

    /// A complete SVG file without scripts and references, at most 880 pixels wide unless the heads need more.
    package var svg: String { SVGDrawing(self).text }

    func names(of step: Step) -> String {
        step.isNote ? parties[step.from].name : "\(parties[step.from].name) to \(parties[step.to].name)"
    }

    /// Returns the time to show beside a step, or `nil` if it is the previous step's.
    func timeText(_ index: Int) -> String? {
        guard index > 0 else { return Self.passed(0) }
        guard steps[index].at != steps[index - 1].at else { return nil }
        return Self.passed(steps[index].at - steps[0].at)
    }

    /// Returns the pause before a step if it is long enough to show, an hour or more, else `nil`.
    func pause(before index: Int) -> String? {
        guard index > 0, steps[index].at - steps[index - 1].at >= 3_600 else { return nil }
        return "\(Self.span(steps[index].at - steps[index - 1].at)) later"
    }

    private static func passed(_ seconds: Int64) -> String { (seconds < 0 ? "-" : "+") + span(abs(seconds)) }

    /// Formats a duration, such as `12 s`, `00:10:00` and `6 d 23:59:00`.
    private static func span(_ seconds: Int64) -> String {
        guard seconds >= 60 else { return "\(seconds) s" }
        let ofDay = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let days = seconds / 86_400
        return (days == 0 ? "" : "\(days) d ") + ofDay.joined(separator: ":")
    }

    private static func shown(_ text: String, most: Int) -> String {
        let shown = DisplayText(text).text
        // An escape is longer than its character, so the shown text is cut.
        let scalars = shown.unicodeScalars
        return scalars.count <= most ? shown : String(String.UnicodeScalarView(scalars.prefix(most - 1))) + "…"
    }
}
