package import Records
package import ThreeDS

/// A request whose decision is durable, and its enrollment at that time.
package struct DecidedRequest: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment
    /// The text that was shown for it, or `nil` if it has none.
    package let text: TransactionText?
}
