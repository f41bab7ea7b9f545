import ThreeDS

/// The names of enrollments: no two that have not ended have the same one, so that a name says which is meant.
///
/// An old database may have equal names. They stay, and stand for several.
package enum EnrollmentName {
    package static let bytes = 1...256

    /// The name, or if it is taken the name with a number from 2 on that is free: `issuer.example-2`.
    ///
    /// The first one, unless some before it became free again. Few are looked at, however many are taken.
    static func free(_ name: String, isTaken: (String) throws -> Bool) rethrows -> String {
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

extension StoreReader {
    /// Throws `CommandError` if an enrollment that has not ended has this name.
    func expectFreeName(_ name: String) throws {
        guard let other = try enrollments(named: name, includingEnded: false, limit: 1).first else { return }
        throw CommandError(
            .invalidArgument,
            "the name \(DisplayText(name).text) is taken by enrollment \(other.id): "
                + "choose another name, or unenroll that one first")
    }

    /// Those that a person or script may mean: the one of this id, else those of this name, else those whose id begins so.
    ///
    /// Of equal names the ones that have not ended count first. A damaged row is found by its id only: its name is not to
    /// be believed.
    ///
    /// White space at the ends and the form of Unicode's letters do not count (``TypedText``).
    ///
    /// - Parameter limit: the most that are given.
    func enrollments(meantBy text: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment] {
        guard !text.isEmpty else { return [] }
        if let whole = try EnrollmentID(text).flatMap({ try enrollment($0) }), ended || !whole.isOver { return [whole] }
        let named = try enrollments(named: TypedText.name(text), includingEnded: ended, limit: limit)
            .filter { !$0.isDamaged }
        let current = named.filter { !$0.isOver }
        if !current.isEmpty { return current }
        return named.isEmpty ? try enrollments(beginning: text, includingEnded: ended, limit: limit) : named
    }
}
