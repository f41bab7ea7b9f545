package import IssuerProtocol

/// A decision that is being delivered to the issuer; its bytes do not change until the issuer has answered.
package struct OutboxEntry: Sendable {
    package let enrollmentId: EnrollmentID
    package let jti: TokenID
    /// The request of the delivery, or `nil` for an answer to a mere message (a duplicate).
    package let requestId: RequestID?
    /// The signCount of an approval, or `nil` for a denial.
    package let signCount: UInt32?
    /// `nil` if the stored bytes differ from what the agent wrote; then they are not sent.
    package let body: [UInt8]?
    /// The second from which on it is not sent any more.
    package let exp: Int64
    package let traceparent: String?
    /// The reason why the last stored try got no answer, or `nil` if there was no such try.
    package let lastError: String?

    package init(
        enrollmentId: EnrollmentID, jti: TokenID, requestId: RequestID?, signCount: UInt32?, body: [UInt8]?,
        exp: Int64, traceparent: String?, lastError: String? = nil
    ) {
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.requestId = requestId
        self.signCount = signCount
        self.body = body
        self.exp = exp
        self.traceparent = traceparent
        self.lastError = lastError
    }
}

/// The two queues of an enrollment's outbox.
///
/// Approvals of a credential are sent one at a time, in the order of their signCounts. Denials have their own queue, so
/// that approvals do not delay them.
package enum OutboxQueue: Sendable, Hashable, CaseIterable {
    case approvals
    case denials
}
