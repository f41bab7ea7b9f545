/// What an agent did that the model does not allow, and at which step.
struct Finding: Error, Sendable, CustomStringConvertible {
    /// The first is 1; one past the last is the end, when the issuer is well again.
    let step: Int
    let sentence: String
    /// Whether it was only waited for too long; on a machine that stood still that says nothing.
    let isTimeOver: Bool

    init(_ sentence: String, step: Int = 0, isTimeOver: Bool = false) {
        self.sentence = sentence
        self.step = step
        self.isTimeOver = isTimeOver
    }

    var description: String { "step \(step): \(sentence)" }
}

/// Throws a finding unless both are the same.
func expect<Value: Equatable>(_ what: String, _ actual: Value, is expected: Value) throws {
    guard actual != expected else { return }
    throw Finding("\(what) is \(actual), and must be \(expected)")
}
