/// The patterns that data is masked with (ISO/IEC 18004:2015 §7.8.2), by their numbers.
enum QRMask: Int, CaseIterable {
    case checkers, rows, columns, diagonals, bricks, crosses, diamonds, meadow

    func inverts(_ row: Int, _ column: Int) -> Bool {
        let product = row * column
        return switch self {
        case .checkers: (row + column) % 2 == 0
        case .rows: row % 2 == 0
        case .columns: column % 3 == 0
        case .diagonals: (row + column) % 3 == 0
        case .bricks: (row / 2 + column / 3) % 2 == 0
        case .crosses: product % 2 + product % 3 == 0
        case .diamonds: (product % 2 + product % 3) % 2 == 0
        case .meadow: ((row + column) % 2 + product % 3) % 2 == 0
        }
    }
}

extension QRGrid {
    /// What could mislead a reader (§7.8.3.1): long runs, blocks, what looks like a finder, too much dark or light.
    var penalty: Int {
        let rows = (0..<size).map { row in (0..<size).map { self[row, $0] } }
        let columns = (0..<size).map { column in (0..<size).map { self[$0, column] } }
        let lines = rows + columns
        return lines.reduce(0) { $0 + Self.runs($1) + Self.finders($1) } + blocks + imbalance
    }

    /// 3 for each run of five of one colour, and 1 for each module more.
    private static func runs(_ line: [Bool]) -> Int {
        var (points, length) = (0, 0)
        for index in line.indices {
            length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
            if length == 5 { points += 3 } else if length > 5 { points += 1 }
        }
        return points
    }

    /// 40 for each dark-light-dark-light-dark of lengths 1 1 3 1 1 with four light modules on a side.
    private static func finders(_ line: [Bool]) -> Int {
        let light = [Bool](repeating: false, count: 4)
        let finder = [true, false, true, true, true, false, true]
        // The quiet zone is light.
        let whole = light + line + light
        return [light + finder, finder + light].reduce(0) { points, pattern in
            let starts = 0...(whole.count - pattern.count)
            return points + 40 * starts.count { whole[$0..<$0 + pattern.count].elementsEqual(pattern) }
        }
    }

    /// 3 for each square of four of one colour.
    private var blocks: Int {
        var points = 0
        for row in 1..<size {
            for column in 1..<size {
                let colour = self[row, column]
                let isBlock = self[row - 1, column] == colour && self[row, column - 1] == colour
                if isBlock && self[row - 1, column - 1] == colour { points += 3 }
            }
        }
        return points
    }

    /// 10 for each whole 5 % that the dark ones are away from half.
    private var imbalance: Int { 10 * (abs(2 * dark.count { $0 } - dark.count) * 10 / dark.count) }
}
