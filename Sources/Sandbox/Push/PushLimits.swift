/// How long a receiver of pushes is waited for.
package struct PushLimits: Sendable {
    /// Returns when a receiver has had its time to take a push and to answer.
    package let answer: @Sendable () async throws -> Void
    package let connectSeconds: Int64

    package init(connectSeconds: Int64, answer: @escaping @Sendable () async throws -> Void) {
        self.connectSeconds = connectSeconds
        self.answer = answer
    }

    package static let standard = PushLimits(connectSeconds: 5) { try await Task.sleep(for: .seconds(10)) }
}
