/// Where the lanes of a diagram are, and its texts between them, in pixels.
struct LaneSpacing {
    /// What a text between two lanes asks for.
    struct Wish {
        let lanes: ClosedRange<Int>
        let width: Int
    }

    /// Where a text is: its middle, and whether it lies over the lines of lanes, which are interrupted for it.
    struct Place: Equatable {
        let middle: Int
        let isOverLanes: Bool
    }

    /// Between two heads.
    private static let space = 10
    /// From lane to lane if there is room.
    private static let usual = 165
    /// Between a text and the lanes beside it.
    private static let padding = 8

    /// From the left, rising.
    let lanes: [Int]

    /// Lanes that are as far apart as their heads need, and then as their texts would like as far as there is room.
    ///
    /// - Parameters:
    ///   - heads: how wide each lane's head is.
    ///   - most: from the left end of the first head to the right end of the last one.
    init(heads: [Int], wishes: [Wish], start: Int, most: Int) {
        let least = zip(heads, heads.dropFirst()).map { left, right in (left + right + 1) / 2 + Self.space }
        var wanted = least.map { max($0, Self.usual) }
        for wish in wishes where wish.lanes.count == 2 {
            wanted[wish.lanes.lowerBound] = max(wanted[wish.lanes.lowerBound], wish.width + 2 * Self.padding)
        }
        let ends = ((heads.first ?? 0) + 1) / 2 + ((heads.last ?? 0) + 1) / 2
        let room = max(0, most - ends - least.reduce(0, +))
        let gaps = Self.shared(room, least: least, wanted: wanted)
        var lanes = [start + ((heads.first ?? 0) + 1) / 2]
        for gap in gaps { lanes.append((lanes.last ?? 0) + gap) }
        self.lanes = lanes
    }

    /// Gives each gap what it wants, those that want least first; what is left is shared alike.
    private static func shared(_ room: Int, least: [Int], wanted: [Int]) -> [Int] {
        var (gaps, room) = (least, room)
        let order = gaps.indices.sorted { (wanted[$0] - least[$0], $0) < (wanted[$1] - least[$1], $1) }
        for (done, gap) in order.enumerated() {
            let given = min(wanted[gap] - least[gap], room / (order.count - done))
            gaps[gap] += given
            room -= given
        }
        return gaps
    }

    /// How wide a text between these lanes can be.
    func width(across range: ClosedRange<Int>) -> Int {
        lanes[range.upperBound] - lanes[range.lowerBound] - 2 * Self.padding
    }

    /// The widest of the gaps.
    func widestGap(in range: ClosedRange<Int>) -> Int {
        (range.lowerBound..<range.upperBound).map { width(across: $0...($0 + 1)) }.max() ?? 0
    }

    /// In the middle gap, of two the sender's, or in the nearest that has room for it; else over the lanes.
    func place(width: Int, from: Int, to: Int) -> Place {
        let range = min(from, to)...max(from, to)
        let gaps = range.lowerBound..<range.upperBound
        let best = range.lowerBound + (from < to ? gaps.count - 1 : gaps.count) / 2
        let roomy = gaps.filter { self.width(across: $0...($0 + 1)) >= width }
        guard let gap = roomy.min(by: { abs($0 - best) < abs($1 - best) }) else {
            let middle = (lanes[range.lowerBound] + lanes[range.upperBound]) / 2
            return Place(middle: middle, isOverLanes: range.count > 2)
        }
        return Place(middle: (lanes[gap] + lanes[gap + 1]) / 2, isOverLanes: false)
    }

    /// A text broken into lines: within the widest gap if they hold it, else over the lanes.
    func lines(_ text: String, across range: ClosedRange<Int>, most: Int, in font: TextFitting) -> [String] {
        let gap = max(1, widestGap(in: range))
        let inGap = font.items(text, width: gap, most: most)
        // Two lines over the lanes are easier to read than a column of pieces.
        let isOver = range.count > 2 && (inGap.texts.count > 2 || inGap.harm > 0 || inGap.isCut)
        return font.balanced(isOver ? max(1, width(across: range)) : gap) { font.items(text, width: $0, most: most) }
    }

    /// Where a note over a lane can be, without touching its neighbours and the ends of the picture.
    func room(forNoteOn lane: Int, within ends: ClosedRange<Int>) -> ClosedRange<Int> {
        let left = lane > 0 ? lanes[lane - 1] + Self.padding : ends.lowerBound
        let right = lane + 1 < lanes.count ? lanes[lane + 1] - Self.padding : ends.upperBound
        return left...max(left, right)
    }

    /// Where a note begins: in the middle of its lane if there is room to both sides, and never outside of the picture.
    func start(ofNoteOn lane: Int, width: Int, in room: ClosedRange<Int>) -> Int {
        let last = room.upperBound - width
        guard last >= room.lowerBound else { return lane == lanes.count - 1 ? max(0, last) : room.lowerBound }
        return max(room.lowerBound, min(lanes[lane] - width / 2, last))
    }
}
