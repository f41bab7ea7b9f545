import Control
import Testing

@testable import Prompting

/// Tables of any content fit a terminal; what is no terminal gets whole rows.
struct TableTests {
    private let table = Table(
        heading: [
            .init("ID", .id), .init("ACSTRANSID", .id), .init("AMOUNT"), .init("MERCHANT", .text), .init("EXPIRES"),
        ],
        rows: [
            [
                "0123456789abcdef0123", "d1c8a3b0-6a0b-4e6b-9b1a-0d6b1b8d9e11", "USD 1.00",
                "A merchant of a rather long name", "2023-10-17T05:56:38Z",
            ],
            [
                "0123456799abcdef0123", "e1c8a3b0-6a0b-4e6b-9b1a-0d6b1b8d9e11", "USD 1000.00", "Short",
                "2023-10-17T05:56:38Z",
            ],
        ])

    @Test func `on a terminal no line is longer than it, IDs are cut to what tells them apart and text goes on below`()
    {
        let lines = table.lines(80).map(\.text)
        #expect(lines.allSatisfy { $0.count < 80 })
        #expect(lines[1].hasPrefix("012345678  d1c8a3b0"))
        #expect(lines.contains { $0.hasPrefix("012345679  e1c8a3b0") })
        let words = lines.joined(separator: " ").split(separator: " ")
        for word in "A merchant of a rather long name".split(separator: " ") { #expect(words.contains(word)) }
    }

    @Test func `what is no terminal gets each row in one line with whole IDs`() {
        let lines = table.lines(nil).map(\.text)
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("0123456789abcdef0123  d1c8a3b0-6a0b-4e6b-9b1a-0d6b1b8d9e11  USD 1.00 "))
    }

    @Test func `a table that fits is left as it is`() {
        #expect(table.lines(200) == table.lines(nil))
    }

    @Test(arguments: [nil, 200] as [Int?])
    func `cells are below each other whatever columns their letters take`(columns: Int?) {
        let names = [
            "株式会社カフェ東京", "Café ☕\u{FE0F}", "ශ්\u{200D}රී ලංකා", "فروشگاه\u{200C}ها", "e\u{301}", "❤\u{FE0F}", "Plain",
        ]
        let table = Table(heading: [.init("MERCHANT", .name), .init("STATE")], rows: names.map { [$0, "pending"] })
        let starts = table.lines(columns).map { line in
            let start = ["pending", "STATE"].compactMap { line.text.firstRange(of: $0)?.lowerBound }.first
            return TerminalText.columns(line.text[..<(start ?? line.text.startIndex)])
        }
        #expect(Set(starts) == [20])
    }

    @Test(arguments: [
        String(repeating: "\u{202E}", count: 40), String(repeating: "株", count: 40),
        "a" + String(repeating: "\u{200B}x", count: 20), String(repeating: "\\", count: 40),
    ])
    func `no name makes a row wider than 60 columns for it`(name: String) {
        let rows = [["Shop", "pending"], [name, "x"]]
        let table = Table(heading: [.init("MERCHANT", .name), .init("STATE")], rows: rows)
        let lines = table.lines(nil).map(\.text)
        #expect(lines.allSatisfy { TerminalText.columns($0) <= 60 + 2 + "pending".count })
        #expect(lines[2].contains("…"))
        #expect(table.lines(40).map(\.text).allSatisfy { TerminalText.columns($0) < 40 })
    }

    @Test func `without UTF-8 the escapes are measured, and a row is as narrow`() {
        let rows = [["株式会社カフェ東京株式会社", "pending"], ["Caf\u{E9}", "pending"], ["Shop", "pending"]]
        let table = Table(heading: [.init("MERCHANT", .name), .init("STATE")], rows: rows)
        let lines = table.lines(nil, isUTF8: false).map(\.text)
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } && $0.count <= 60 + 2 + "pending".count })
        #expect(lines[1].contains("..."))
        let starts = lines.dropFirst().map { $0.firstRange(of: "pending")?.lowerBound.utf16Offset(in: $0) }
        #expect(Set(starts).count == 1)
    }

    @Test func `a flag is not cut into its two letters`() {
        let name = String(repeating: "🇩🇪", count: 70)
        let lines = Table(heading: [.init("MERCHANT", .name)], rows: [[name]]).lines(nil).map(\.text)
        #expect(lines[1].dropLast().unicodeScalars.count.isMultiple(of: 2))
        #expect(lines[1].hasSuffix("🇩🇪…"))
    }

    @Test func `a name of 60 columns is whole`() {
        let name = String(repeating: "株", count: 30)
        let lines = Table(heading: [.init("MERCHANT", .name)], rows: [[name]]).lines(nil)
        #expect(lines.map(\.text) == ["MERCHANT", name])
    }

    @Test func `without rows there is no table`() {
        #expect(Table(heading: [.init("ID", .id)], rows: []).lines(80).isEmpty)
    }
}
