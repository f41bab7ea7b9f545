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
