import SequenceDiagrams
import Testing

@Suite struct SequenceDiagramTests {
    private typealias Step = SequenceDiagram.Step

    private func diagram(_ names: [String], _ steps: [Step]) throws -> SequenceDiagram {
        try #require(
            SequenceDiagram(title: "t", parties: names.map { .init($0, role: "r") }, steps: steps))
    }

    private let conversation = [
        Step(at: 0, from: 0, to: 1, label: "ask"),
        Step(at: 5, from: 1, to: 0, label: "answer", detail: "d", isAnswer: true),
        Step(at: 5, from: 1, to: 1, label: "waits"),
    ]

    @Test func `the list has a line for each step`() throws {
        #expect(
            try diagram(["A", "B"], conversation).list.split(separator: "\n") == [
                "t", "+0 s  A to B: ask", "+5 s  B to A: answer (d)", "+5 s  B: waits",
            ])
    }

    @Test func `Mermaid's form has a line for each party and each step`() throws {
        #expect(
            try diagram(["A", "B"], conversation).mermaid.split(separator: "\n").dropFirst() == [
                "sequenceDiagram", "participant p0 as A", "participant p1 as B", "Note over p0,p1: t",
                "p0->>p1: #43;0 s<br/>ask", "p1-->>p0: #43;5 s<br/>answer<br/>d", "Note over p1: waits",
            ])
    }

    @Test func `text from outside has no sign in Mermaid's form that means something there`() throws {
        let hostile = "a;b:c#35;<br>`%%{x}&ﬂ°"
        let drawn = try diagram([hostile], [Step(at: 0, from: 0, to: 0, label: hostile, detail: hostile)])
        let escaped = "a#59;b#58;c#35;35#59;#60;br#62;#96;#37;#37;#123;x#125;#38;ﬂ#176;"
        #expect(
            drawn.mermaid.split(separator: "\n").dropFirst(2) == [
                "participant p0 as \(escaped)", "Note over p0: t",
                "Note over p0: #43;0 s<br/>\(escaped)<br/>\(escaped)",
            ])
    }

    @Test func `a label of one letter and a million marks is cut within its marks`() throws {
        let label = "a" + String(repeating: "\u{301}", count: 1_000_000)
        let drawn = try diagram(["A", "B"], [Step(at: 0, from: 0, to: 1, label: label)])
        #expect(drawn.list.utf8.count < 3_000 && drawn.mermaid.utf8.count < 3_000 && drawn.svg.utf8.count < 10_000)
    }

    @Test func `a step to oneself is a note`() throws {
        let drawn = try diagram(["A", "B"], [Step(at: 0, from: 1, to: 1, label: "waits")])
        #expect(drawn.svg.contains(#"<rect class="note""#))
        #expect(!drawn.svg.contains(#"<line class="arrow"#))
    }

    @Test(
        arguments: [
            (0, "+0 s"), (59, "+59 s"), (60, "+00:01:00"), (86_399, "+23:59:59"), (604_740, "+6 d 23:59:00"),
            (-5, "-5 s"), (.max, "+2932896 d 23:59:59"),
        ] as [(Int64, String)])
    func `times count from the first step`(after: Int64, text: String) throws {
        // The last second that a date of four digits has, from 1970 on.
        let first: Int64 = after == .max ? 0 : 1_000
        let second = after == .max ? .max : first + after
        let drawn = try diagram(
            ["A", "B"], [Step(at: first, from: 0, to: 1, label: "x"), Step(at: second, from: 0, to: 1, label: "y")])
        #expect(drawn.list.contains("\n\(text)  A to B: y"))
        #expect(drawn.svg.contains(">\(text)</text>"))
    }

    @Test func `a party that is not there, none at all, and too many steps make no diagram`() {
        let step = Step(at: 0, from: 0, to: 1, label: "x")
        let one = [SequenceDiagram.Party("A", role: "r")]
        #expect(SequenceDiagram(title: "t", parties: [], steps: []) == nil)
        #expect(SequenceDiagram(title: "t", parties: one, steps: [step]) == nil)
        #expect(SequenceDiagram(title: "t", parties: one, steps: []) != nil)
        let two = one + one
        #expect(SequenceDiagram(title: "t", parties: two, steps: Array(repeating: step, count: 1_000)) != nil)
        #expect(SequenceDiagram(title: "t", parties: two, steps: Array(repeating: step, count: 1_001)) == nil)
    }

    @Test(arguments: 1...9)
    func `any number of lanes fits, with long labels from each to each`(lanes: Int) throws {
        let names = (1...lanes).map { "party number \($0)" }
        let steps = (0..<lanes).flatMap { from in
            (0..<lanes).map { to in
                Step(
                    at: 0, from: from, to: to, label: "a label that is somewhat too long for it",
                    detail: String(repeating: "threeDSRequestorAuthenticationInd 01, ", count: 8))
            }
        }
        let drawn = try diagram(names, steps)
        let width = try #require(drawn.svg.firstMatch(of: /width="(\d+)"/))
        #expect(try #require(Int(width.1)) <= (lanes <= 5 ? 880 : lanes * 180))
        let ends = drawn.svg.matches(of: /<rect class="head" x="(\d+)" y="\d+" width="(\d+)"/)
        #expect(ends.count == lanes)
        #expect(ends.allSatisfy { (Int($0.1) ?? 0) + (Int($0.2) ?? 0) <= Int(width.1) ?? 0 })
        #expect(drawn.svg.matches(of: /<line class="arrow/).count == lanes * (lanes - 1))
    }

    @Test func `a detail across lanes that no gap holds interrupts them`() throws {
        let long = "threeDSRequestorAppURL https://merchant.example/return?transID=5e1c8f7e-2f1e-4f0e-9a7a-8f4d0f6a2b1c"
        let drawn = try diagram(["A", "B", "C"], [Step(at: 0, from: 0, to: 2, label: "CReq", detail: long)])
        #expect(drawn.svg.contains(#"<rect class="mask""#))
        let short = try diagram(["A", "B", "C"], [Step(at: 0, from: 0, to: 2, label: "CReq", detail: "short")])
        #expect(!short.svg.contains(#"<rect class="mask""#))
    }

    @Test func `a detail that is cut has as much as there is room for`() throws {
        let drawn = try diagram(
            ["A", "B"], [Step(at: 0, from: 0, to: 1, label: "x", detail: String(repeating: "w", count: 400))])
        let lines = drawn.svg.matches(of: />(w+…?)</).map(\.1)
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.count { $0 == "w" } > 15 })
        #expect(lines.last?.hasSuffix("w…") == true)
    }

    @Test func `the same diagram is drawn as the same bytes`() throws {
        let steps = [Step(at: 7, from: 0, to: 1, label: "x", detail: "y")]
        #expect(try diagram(["A", "B"], steps).svg == diagram(["A", "B"], steps).svg)
        #expect(try diagram(["A", "B"], steps) == diagram(["A", "B"], steps))
    }
}
