/// Formats a prompt's lines and questions as bytes for the terminal.
///
/// All text passes through `Glyphs.fit`. The only control characters are line feeds, and the few sequences in this
/// file, if the terminal supports them (ECMA-48, and DECSC and DECRC of the VT100).
package struct PromptScreen: Sendable {
    package private(set) var traits: ScreenTraits
    private var standing: Standing?

    private struct Standing {
        let cue: String
        /// The rows from the start of the question to the input.
        let rows: Int
        /// Whether a row above the last one shows only the time left.
        let hasCountdownRow: Bool
    }

    package init(traits: ScreenTraits) { self.traits = traits }

    package mutating func resize(columns: Int) { traits.columns = ScreenTraits.usable(columns) }

    package mutating func say(_ lines: [ScreenLine]) -> [UInt8] {
        // Text that was typed without a question is in this row.
        let start = traits.movesCursor && standing == nil ? "\r\u{1B}[K" : ""
        standing = nil
        return Array((start + lines.map(text).joined()).utf8)
    }

    package mutating func ask(_ question: PromptQuestion) -> [UInt8] {
        let countdown = question.countdown.map { ScreenLine($0) }
        let lines = question.lines + [countdown].compactMap(\.self)
        let cue = Glyphs.fit(question.cue, isUTF8: traits.isUTF8)
        standing = Standing(
            cue: cue, rows: lines.reduce(1) { $0 + $1.rows(traits).count },
            hasCountdownRow: countdown?.rows(traits).count == 1)
        return Array((lines.map(text).joined() + cue).utf8)
    }

    /// The bytes that print the new time left, empty without a question.
    package func count(_ countdown: String) -> [UInt8] {
        guard let standing else { return [] }
        guard traits.movesCursor else {
            return Array(("\n" + text(ScreenLine(countdown)) + standing.cue).utf8)
        }
        let rows = ScreenLine(countdown).rows(traits)
        guard standing.hasCountdownRow, rows.count == 1 else { return [] }
        return Array("\u{1B}7\u{1B}[1A\r\(rows[0])\u{1B}[K\u{1B}8".utf8)
    }

    /// Removes the question; if the terminal cannot, begins a new line.
    package mutating func withdraw() -> [UInt8] {
        guard let standing else { return [] }
        self.standing = nil
        guard traits.movesCursor else { return Array("\n".utf8) }
        let up = standing.rows > 1 ? "\u{1B}[\(standing.rows - 1)A" : ""
        return Array("\r\(up)\u{1B}[J".utf8)
    }

    /// Enter has ended the input line: the question stays on the screen.
    package mutating func settle() { standing = nil }

    package mutating func clear() -> [UInt8] {
        standing = nil
        return traits.movesCursor ? Array("\u{1B}[H\u{1B}[2J".utf8) : []
    }

    /// A link (OSC 8) if the terminal supports it and the scheme is `https:`, otherwise the address as text.
    ///
    /// - Returns: `nil` for an address with a character that no URI has (RFC 3986): it may not reach a terminal.
    package static func link(to url: String, _ traits: ScreenTraits) -> [UInt8]? {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard traits.hasLinks, url.lowercased().hasPrefix("https://") else { return Array((url + "\n").utf8) }
        return Array("\u{1B}]8;;\(url)\u{1B}\\\(url)\u{1B}]8;;\u{1B}\\\n".utf8)
    }

    private func text(_ line: ScreenLine) -> String {
        line.rows(traits).map { styled($0, line.style) + "\n" }.joined()
    }

    private func styled(_ row: String, _ style: ScreenLine.Style) -> String {
        guard traits.movesCursor, !row.isEmpty, let code = code(of: style) else { return row }
        return "\u{1B}[\(code)m\(row)\u{1B}[0m"
    }

    /// Without colour, bold text stays bold.
    private func code(of style: ScreenLine.Style) -> String? {
        switch style {
        case .normal: nil
        case .faint: traits.hasColour ? "2" : nil
        case .strong: "1"
        case .headline: traits.hasColour ? "1;7" : "1"
        case .warning: traits.hasColour ? "1;31" : "1"
        }
    }
}
