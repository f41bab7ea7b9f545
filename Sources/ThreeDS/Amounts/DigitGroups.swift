/// Digits in groups of three from the right, separated by a space, as ISO 80000-1 writes long numbers.
enum DigitGroups {
    /// The digits, grouped where there are more than four of them.
    static func grouped(_ digits: String) -> String {
        guard digits.utf8.count > 4 else { return digits }
        var groups: [Substring] = []
        var rest = digits[...]
        while !rest.isEmpty {
            groups.append(rest.suffix(3))
            rest = rest.dropLast(3)
        }
        return groups.reversed().joined(separator: " ")
    }
}
