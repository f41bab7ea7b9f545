/// The names of enrollments, unique among all that have not ended, so that a name identifies one.
///
/// An old database may have equal names. They stay, and stand for several enrollments.
package enum EnrollmentName {
    package static let bytes = 1...256

    /// Returns the name, or if it is taken, the name with a free number from 2 on: `issuer.example-2`.
    ///
    /// The number is the first free one, unless a lower number became free again. Only few names are checked, however
    /// many are taken.
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

    /// Appends a number, and shortens the name to the maximum length.
    private static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = "-\(number)"
        var start = name
        while start.utf8.count + suffix.utf8.count > bytes.upperBound { start.removeLast() }
        return start + suffix
    }
}
