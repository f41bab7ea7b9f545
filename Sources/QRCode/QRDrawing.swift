/// How a QR code is drawn with characters.
package struct QRDrawing: Sendable {
    package enum Cells: Sendable {
        /// One character for two modules, one above the other; takes UTF-8.
        case halfBlocks
        /// Two characters for a module; ASCII.
        case pairs
    }

    /// What a reader needs around a code (ISO/IEC 18004:2015 §6.3.8), in modules.
    private static let quietZone = 4

    package let cells: Cells
    /// Whether it is black on white by escape sequences, whatever the terminal's colours are.
    ///
    /// Without them a code is drawn for light text on a dark background.
    package let isColoured: Bool

    package init(_ cells: Cells, isColoured: Bool) {
        self.cells = cells
        self.isColoured = isColoured
    }

    /// Columns of the terminal that it takes.
    package func width(of code: QRCode) -> Int { (cells == .pairs ? 2 : 1) * (code.size + 2 * Self.quietZone) }

    package func lines(of code: QRCode) -> [String] {
        let all = -Self.quietZone..<code.size + Self.quietZone
        switch cells {
        case .pairs: return all.map { row in pairs(all.map { code.isDark(row: row, column: $0) }) }
        case .halfBlocks:
            return stride(from: all.lowerBound, to: all.upperBound, by: 2).map { row in
                let characters = all.map { column in
                    Self.halves[
                        half(of: code, row: row, column: column)
                            + 2 * half(of: code, row: row + 1, column: column)]
                }
                // Black on white, of the fixed part of the 256 colours.
                return isColoured ? "\u{1B}[38;5;16;48;5;231m\(String(characters))\u{1B}[0m" : String(characters)
            }
        }
    }

    /// Neither half, the upper, the lower, both.
    private static let halves: [Character] = [" ", "▀", "▄", "█"]

    /// 1 if the module is drawn in the colour of text: dark if that is black, else light.
    private func half(of code: QRCode, row: Int, column: Int) -> Int {
        code.isDark(row: row, column: column) == isColoured ? 1 : 0
    }

    private func pairs(_ modules: [Bool]) -> String {
        guard isColoured else { return modules.map { $0 ? "  " : "##" }.joined() }
        return modules.map { $0 ? "\u{1B}[48;5;16m  " : "\u{1B}[48;5;231m  " }.joined() + "\u{1B}[0m"
    }
}
