extension ClockAdvance {
    /// Returns the advance of a clock in the form that ``init(_:)`` reads: `1h30m`, and `0s` for none.
    package static func text(_ seconds: Int64) -> String {
        var rest = max(seconds, 0)
        let parts = units.compactMap { unit -> String? in
            let (number, remainder) = rest.quotientAndRemainder(dividingBy: unit.seconds)
            rest = remainder
            return number == 0 ? nil : "\(number)\(unit.name)"
        }
        return parts.isEmpty ? "0s" : parts.joined()
    }
}
