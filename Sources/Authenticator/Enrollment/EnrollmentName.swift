import ThreeDS

/// The names of enrollments: no two that have not ended have the same one, so that a name says which is meant.
///
/// An old database may have equal names. They stay, and stand for several.
package enum EnrollmentName {
    package static let bytes = 1...256

    /// The name, or if it is taken the name with the first number from 2 on that is free: `issuer.example-2`.
    static func free(_ name: String, among taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while taken.contains(numbered(name, number)) { number += 1 }
        return numbered(name, number)
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
        guard try enrollmentNames().contains(name) else { return }
        let other = try enrollments(includingEnded: false).first { $0.name == name }
        throw CommandError(
            .invalidArgument,
            "the name \(DisplayText(name).text) is taken by enrollment \(other?.id.text ?? "that has just ended"): "
                + "choose another name, or unenroll that one first")
    }
}

extension [Enrollment] {
    /// Those that a person or script may mean: the one of this id, else those of this name, else those whose id begins so.
    ///
    /// Of equal names the ones that have not ended count first. A damaged row is found by its id only: its name is not to
    /// be believed.
    func named(_ text: String) -> [Enrollment] {
        guard !text.isEmpty else { return [] }
        if let whole = first(where: { $0.id.text == text }) { return [whole] }
        let named = filter { $0.name == text && !$0.isDamaged }
        let current = named.filter { !$0.isOver }
        if !current.isEmpty { return current }
        return named.isEmpty ? filter { $0.id.text.hasPrefix(text) } : named
    }
}
