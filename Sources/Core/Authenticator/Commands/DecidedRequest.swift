package import Records
package import ThreeDS

/// A request whose decision is durable, and its enrollment as it was then.
package struct DecidedRequest: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment
    /// The text that was shown for it; `nil` if there was nothing to show.
    package let text: TransactionText?
}
