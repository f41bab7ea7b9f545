/// The advance of a test's clock, in whole seconds, more than 0.
package struct ClockAdvance: Sendable, Equatable {
    /// The error in an advance, with the allowed values.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The most seconds to which all advances of one clock may add up: 400 days.
    package static let maxOffset: Int64 = 400 * 86_400
    /// The units in the order in which they are written, the largest first.
    static let units: [(name: Character, seconds: Int64)] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]

    package let seconds: Int64

    /// Throws unless `seconds` is 1 to ``maxOffset``.
    package init(seconds: Int64) throws(Refusal) {
        guard seconds >= 0 else { throw Refusal(description: "a clock only goes forwards: give a time above 0") }
        guard seconds > 0 else { throw Refusal(description: "a clock moves by 1s at least") }
        guard seconds <= Self.maxOffset else { throw Self.beyond }
        self.seconds = seconds
    }

    /// Reads whole numbers with their units, the largest unit first and each once: `90s`, `10m`, `1h30m`, `2d`.
    package init(_ text: String) throws(Refusal) {
        let isBackwards = text.hasPrefix("-")
        var total: Int64 = 0
        var rest = isBackwards ? text.dropFirst() : text[...]
        var units = Self.units[...]
        repeat {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            guard let name = rest.popFirst(), let unit = units.firstIndex(where: { $0.name == name }),
                let number = Int64(digits)
            else { throw Self.malformed(text) }
            // There are at most four numbers within the bound: no product overflows, nor does their sum.
            guard number <= Self.maxOffset else { throw Self.beyond }
            total += number * units[unit].seconds
            units = units[(unit + 1)...]
        } while !rest.isEmpty
        try self.init(seconds: isBackwards ? min(-1, -total) : total)
    }

    /// Returns the offset of a clock that had this offset before; throws beyond ``maxOffset``.
    package func added(to offset: Int64) throws(Refusal) -> Int64 {
        guard offset <= Self.maxOffset - seconds else { throw Self.beyond }
        return offset + seconds
    }

    private static let beyond = Refusal(description: "all advances of a clock come to 400d at most")

    private static func malformed(_ text: String) -> Refusal {
        Refusal(
            description: """
                "\(DisplayText(text).text)" must be whole numbers with the units d, h, m and s, the largest first, such \
                as 10m or 1h30m
                """)
    }
}
