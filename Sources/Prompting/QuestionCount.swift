/// Which question stands: a line that was typed for an earlier one is no answer to it.
///
/// Lines are read beside what else happens, so one may be on its way while its question is taken back and another put.
package struct QuestionCount: Sendable {
    private var last = 0
    private var stands = false

    package init() {}

    /// - Returns: the number of the question that stands from now on.
    package mutating func ask() -> Int {
        last += 1
        stands = true
        return last
    }

    /// None stands any more.
    package mutating func withdraw() { stands = false }

    /// Whether a line that was typed for a question answers the one that stands; it stands no more then.
    package mutating func answers(_ question: Int) -> Bool {
        guard stands, question == last else { return false }
        stands = false
        return true
    }
}
