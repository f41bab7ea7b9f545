/// What an agent did that the model does not allow, and at which step.
struct Finding: Error, Sendable, CustomStringConvertible {
    /// The first is 1; one past the last is the end, when the issuer is well again.
    let step: Int
    let sentence: String

    init(_ sentence: String, step: Int = 0) {
        self.sentence = sentence
        self.step = step
    }

    var description: String { "step \(step): \(sentence)" }
}

/// Throws a finding unless both are the same.
func expect<Value: Equatable>(_ what: String, _ actual: Value, is expected: Value) throws {
    guard actual != expected else { return }
    throw Finding("\(what) is \(actual), and must be \(expected)")
}
