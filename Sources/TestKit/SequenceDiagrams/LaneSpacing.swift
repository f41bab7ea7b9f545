/// The positions of a diagram's lanes, and of the texts between them, in pixels.
struct LaneSpacing {
    /// The width that a text between two lanes needs.
    struct Wish {
        let lanes: ClosedRange<Int>
        let width: Int
    }

    /// The place of a text: its middle, and whether it covers lines of lanes, which are interrupted for it.
    struct Place: Equatable {
        let middle: Int
        let isOverLanes: Bool
    }

    /// The space between two heads.
    private static let space = 10
    /// The usual distance between lanes, if there is room.
    private static let usual = 165
    /// The space between a text and the lanes beside it.
    private static let padding = 8

    /// The positions of the lanes, from left to right.
    let lanes: [Int]

    /// Places the lanes: first as far apart as their heads need, then wider for their texts while there is room.
    ///
    /// - Parameters:
    ///   - heads: the width of each lane's head.
    ///   - most: the greatest width from the left end of the first head to the right end of the last.
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

    /// Gives each gap its wanted width, small demands first; if the room is short, the rest is shared equally.
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

    /// Returns the greatest width of a text between these lanes.
    func width(across range: ClosedRange<Int>) -> Int {
        lanes[range.upperBound] - lanes[range.lowerBound] - 2 * Self.padding
    }

    /// Returns the width of the widest gap.
    func widestGap(in range: ClosedRange<Int>) -> Int {
        (range.lowerBound..<range.upperBound).map { width(across: $0...($0 + 1)) }.max() ?? 0
    }

    /// Returns the place of a text: a gap near the middle with enough room, else over the lanes.
    ///
    /// If there are two middle gaps, the sender's is preferred.
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

    /// Breaks a text into lines that fit in the widest gap, or else over the lanes.
    func lines(_ text: String, across range: ClosedRange<Int>, most: Int, in font: TextFitting) -> [String] {
        let gap = max(1, widestGap(in: range))
        let inGap = font.items(text, width: gap, most: most)
        // Two lines over the lanes are easier to read than a column of fragments.
        let isOver = range.count > 2 && (inGap.texts.count > 2 || inGap.harm > 0 || inGap.isCut)
        return font.balanced(isOver ? max(1, width(across: range)) : gap) { font.items(text, width: $0, most: most) }
    }

    /// Returns the room for a note over a lane: it may not touch the neighbouring lanes or the ends of the picture.
    func room(forNoteOn lane: Int, within ends: ClosedRange<Int>) -> ClosedRange<Int> {
        let left = lane > 0 ? lanes[lane - 1] + Self.padding : ends.lowerBound
        let right = lane + 1 < lanes.count ? lanes[lane + 1] - Self.padding : ends.upperBound
        return left...max(left, right)
    }

    /// Returns the left end of a note: centred on its lane if there is room, and always inside the picture.
    func start(ofNoteOn lane: Int, width: Int, in room: ClosedRange<Int>) -> Int {
        let last = room.upperBound - width
        guard last >= room.lowerBound else { return lane == lanes.count - 1 ? max(0, last) : room.lowerBound }
        return max(room.lowerBound, min(lanes[lane] - width / 2, last))
    }
}
