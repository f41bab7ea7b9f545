/// Makes one call of several that ask for the same at the same time; all get its answer.
actor SharedCall<Key: Hashable & Sendable, Value: Sendable> {
    typealias Answer = Result<Value, IssuerFailure>

    private var waiting: [Key: [CheckedContinuation<Answer, Never>]] = [:]

    /// How many wait for the answer that another gets.
    func waiterCount(for key: Key) -> Int { waiting[key]?.count ?? 0 }

    /// The answer of `call`, or of the one for the same key that is under way.
    ///
    /// Where the caller that makes it is cancelled, the others get that failure too, and may ask again.
    func value(
        for key: Key, _ call: @Sendable () async throws(IssuerFailure) -> Value
    ) async throws(IssuerFailure) -> Value {
        guard waiting[key] == nil else {
            return try await withCheckedContinuation { waiting[key]?.append($0) }.get()
        }
        waiting[key] = []
        let answer: Answer
        do throws(IssuerFailure) {
            answer = .success(try await call())
        } catch {
            answer = .failure(error)
        }
        let others = waiting.removeValue(forKey: key) ?? []
        others.forEach { $0.resume(returning: answer) }
        return try answer.get()
    }
}
