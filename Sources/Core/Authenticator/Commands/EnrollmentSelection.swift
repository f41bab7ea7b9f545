import Records
import StoreTables
import TextAndTime

extension StoreReading {
    /// Throws `CommandError` if an enrollment that has not ended has this name.
    func expectFreeName(_ name: String) throws {
        guard let other = try enrollments(named: name, includingEnded: false, limit: 1).first else { return }
        throw CommandError(
            .invalidArgument,
            "the name \(DisplayText(name).text) is taken by enrollment \(other.id): "
                + "choose another name, or unenroll that one first")
    }

    /// Finds the enrollments that a person or script may mean by `text`.
    ///
    /// First the enrollment with this id; otherwise the enrollments of this name; otherwise the enrollments whose id
    /// begins with `text`. Of equal names, enrollments that have not ended come first. A damaged row is found only by
    /// its id, because its name cannot be trusted.
    ///
    /// White space at the ends and the form of Unicode's letters do not count (``TypedText``).
    ///
    /// - Parameter limit: the limit for the enrollments that are returned.
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
