/// The names of enrollments: no two that have not ended have the same one, so that a name says which is meant.
///
/// An old database may have equal names. They stay, and stand for several.
package enum EnrollmentName {
    package static let bytes = 1...256

    /// The name, or if it is taken the name with a number from 2 on that is free: `issuer.example-2`.
    ///
    /// The first one, unless some before it became free again. Few are looked at, however many are taken.
    package static func free(_ name: String, isTaken: (String) throws -> Bool) rethrows -> String {
        guard try isTaken(name) else { return name }
        var (taken, free) = (1, 2)
        while try isTaken(numbered(name, free)) { (taken, free) = (free, 2 * free) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if try isTaken(numbered(name, middle)) { taken = middle } else { free = middle }
        }
        return numbered(name, free)
    }

    /// Shortened so that it is no longer than a name may be.
    private static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = "-\(number)"
        var start = name
        while start.utf8.count + suffix.utf8.count > bytes.upperBound { start.removeLast() }
        return start + suffix
    }
}
